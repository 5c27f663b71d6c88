import Database from 'better-sqlite3';
import type { SandboxDb } from '../../src/sandbox/database.ts';
import type { ListSource } from '../../src/sandbox/service.ts';
import type { World } from './world.ts';

/** A second database server of the service, which some reads are served from and which is behind. */
export class Replica {
  readonly #world: World;
  #copy: SandboxDb | null = null;
  #takenAt = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Takes the world over as it is now. */
  catchUp(): void {
    this.#world.settle();
    const copy = new Database(this.#world.db.serialize());
    this.close();
    this.#copy = copy;
    this.#takenAt = this.#world.clock.now();
  }

  /** Behind by up to `ms`; without it the replica stays where it is. */
  source(ms = Number.POSITIVE_INFINITY): ListSource {
    if (this.#copy === null || this.#world.clock.now() - this.#takenAt >= ms) this.catchUp();
    const { behaviour, draws } = this.#world;
    return {
      db: this.#copy ?? this.#world.db,
      order: behaviour.order,
      draws,
      settle: () => {},
    };
  }

  close(): void {
    this.#copy?.close();
    this.#copy = null;
  }
}
