import type { World } from './world.ts';

export interface SandboxToken {
  token: string;
  /** The person the token acts for, made when unknown. */
  email: string;
  name: string;
  /** The short parts of the boards it may see and write; all of them when left out. */
  boards?: string[] | undefined;
}

/** Who a request comes from. */
export interface Caller {
  email: string;
  name: string;
  /** Ids of the boards in reach; null is all of them. */
  boards: readonly number[] | null;
  /** Whether the token came in the query string. */
  inQuery: boolean;
}

/** The tokens that are valid now. */
export class Tokens {
  readonly #tokens = new Map<string, SandboxToken>();

  allow(token: SandboxToken): void {
    this.#tokens.set(token.token, token);
  }

  revoke(token: string): void {
    this.#tokens.delete(token);
  }

  /** A token nobody knows reaches no board. */
  boardsOf(token: string, world: World): readonly number[] | null {
    const known = this.#tokens.get(token);
    if (!known) return [];
    if (!known.boards) return null;
    const slugs = new Set(known.boards);
    return world
      .boards()
      .filter((board) => slugs.has(board.slug))
      .map((board) => board.id);
  }

  /** The header wins over the query parameter; null when neither holds a valid token. */
  identify(authorization: string | undefined, inQuery: string | null, world: World): Caller | null {
    const bearer = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    const token = authorization === undefined ? inQuery : bearer;
    const known = token ? this.#tokens.get(token) : undefined;
    if (!token || !known) return null;
    return {
      email: known.email,
      name: known.name,
      boards: this.boardsOf(token, world),
      inQuery: authorization === undefined,
    };
  }
}
