import { hash } from 'node:crypto';
import { withFormulaGuard, withoutFormulaGuards } from '../../../text/csv.ts';
import { plainForm } from '../../../text/text.ts';
import type { NewRow } from '../../decide/types.ts';
import { contentHash } from '../../decide/whose.ts';
import { newFileMatches } from '../../store/source.ts';
import { LAYOUTS } from './layouts.ts';
import type { AcceptedRow } from './rows.ts';

type Keyed = Pick<AcceptedRow, 'key' | 'post'> &
  Partial<Pick<AcceptedRow, 'writtenBoard' | 'toolKey' | 'cells'>>;

/**
 * What a row is known by, so that importing a file again finds the rows it has already brought. The person's own key
 * when there is one; else the content, told apart from equal rows by its count in the file, starting at 1.
 */
export function sourceKey(row: Keyed, occurrence: number): string {
  return row.key === null
    ? contentKey(contentDigest(row), occurrence)
    : `key:${withoutFormulaGuards(row.key)}`;
}

function contentDigest({ post, writtenBoard = post.board }: Keyed): Buffer {
  const { title, content, email, full_name } = post;
  const text = [title, content, email, full_name].map(
    (part) => part && plainForm(withoutFormulaGuards(part)),
  );
  return digestOf([plainForm(writtenBoard).toLowerCase(), ...text]);
}

/** Each part goes in with its length, so that text moved from one field to the next is another row. */
function digestOf(parts: readonly (string | null)[]): Buffer {
  const text = parts.map((part) => (part === null ? '-' : `${part.length}:${part}`));
  return hash('sha256', text.join(''), 'buffer');
}

function contentKey(digest: Buffer, occurrence: number): string {
  return `row:${digest.toString('base64url')}:${occurrence}`;
}

/** What identifies a row, besides its words. */
export type Identity = Pick<NewRow, 'source_key' | 'former_keys' | 'fileMatches' | 'cells' | 'other_hashes'>;

const TOOLS: ReadonlySet<string> = new Set(LAYOUTS.map(({ id }) => id));

/** The other short names of a board, of before it was renamed and of now. */
export type OtherSlugs = (board: string) => readonly string[];

/** Returns a function that identifies the rows of one file, in their order. It counts equal rows. */
export function identities(hasKeys: boolean, otherSlugs: OtherSlugs = () => []): (row: Keyed) => Identity {
  const seen = new Occurrences();
  const fileMatches = newFileMatches({ hasKeys, tools: TOOLS });
  // A file has few boards and many rows.
  const slugs = new Map<string, readonly string[]>();
  const slugsOf: OtherSlugs = (board) => {
    const known = slugs.get(board) ?? otherSlugs(board);
    if (slugs.size < 10_000) slugs.set(board, known);
    return known;
  };
  return (row) => {
    const digest = row.key === null ? contentDigest(row) : null;
    const source_key = digest ? contentKey(digest, seen.count(digest)) : sourceKey(row, 1);
    const former = formerKeys(row).filter((key) => key !== source_key);
    const other = otherHashes(row.post, slugsOf(row.post.board));
    return {
      source_key,
      fileMatches,
      ...(row.key !== null && row.cells && { cells: row.cells }),
      ...(former.length > 0 && { former_keys: former }),
      ...(other.length > 0 && { other_hashes: other }),
    };
  };
}

/** Earlier versions took the bare ids of a tool for keys, and keys with the apostrophe that guards against formulas. */
function formerKeys({ key, toolKey }: Keyed): string[] {
  return [toolKey, key].flatMap((former) => (former == null ? [] : [`key:${former}`]));
}

/** Hashes of the same words under other names of the board, with and without that apostrophe. Most rows have none. */
function otherHashes(post: Keyed['post'], slugs: readonly string[]): string[] {
  const { title, content } = post;
  const isGuarded = withFormulaGuard(title) !== title || withFormulaGuard(content) !== content;
  if (slugs.length === 0 && !isGuarded) return [];
  const plain = { title: withoutFormulaGuards(title), content: withoutFormulaGuards(content) };
  const texts = [
    { title, content },
    plain,
    { title: withFormulaGuard(plain.title), content: withFormulaGuard(plain.content) },
  ];
  const hashes = [post.board, ...slugs].flatMap((board) =>
    texts.map((text) => contentHash({ board, ...text })),
  );
  return [...new Set(hashes)].filter((hash) => hash !== contentHash(post));
}

/** Counts digests by 48 bits of them: two rows of a million share those once in five hundred files, and are then only numbered oddly. */
export class Occurrences {
  readonly #times = new Map<number, number>();

  /** How often this digest was met, this time included. */
  count(digest: Buffer): number {
    const key = digest.readUIntBE(0, 6);
    const times = (this.#times.get(key) ?? 0) + 1;
    this.#times.set(key, times);
    return times;
  }
}
