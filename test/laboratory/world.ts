import type { CommentWire, PostWire } from '../../src/contract/entities.ts';
import {
  type ChangedColumns,
  type CommentEdit,
  commentColumns,
  given,
  json,
  type NewWorldPost,
  updateRow,
} from '../../src/sandbox/edits.ts';
import { World as PlainWorld, type WorldOptions } from '../../src/sandbox/world.ts';
import { type Behaviour, type BehaviourOptions, behaviourOf, createdAt, shown } from './behaviour.ts';
import { addTables, type LedgerEntry, readLedger, settle } from './ledger.ts';

export interface UserEdit {
  name?: string;
  email?: string;
  alias?: string;
  is_team?: boolean;
  extra?: Record<string, unknown> | null;
}

function userColumns(edit: UserEdit): ChangedColumns {
  return {
    ...given('name', edit.name),
    ...given('alias', edit.alias),
    ...given('email', edit.email),
    ...given('email_key', edit.email, (email) => email.trim().toLowerCase()),
    ...given('is_team', edit.is_team, Number),
    ...given('extra', edit.extra, json),
  };
}

/** The world of the sandbox with a ledger of its creates, which behaves in other ways than the API shows. */
export class World extends PlainWorld {
  /** May be changed at any time. */
  readonly behaviour: Behaviour;

  constructor(options: WorldOptions & BehaviourOptions = {}) {
    super(options);
    this.behaviour = behaviourOf(options);
    addTables(this.db);
  }

  /** After everything that has come due took effect. */
  override settle(): void {
    settle(this);
  }

  override posts(): PostWire[] {
    return super.posts().map((row) => shown(row, 'posts', this.behaviour));
  }

  override comments(): CommentWire[] {
    return super.comments().map((row) => shown(row, 'comments', this.behaviour));
  }

  override addPost(post: NewWorldPost = {}): PostWire {
    return super.addPost({ created: createdAt(this.clock.now(), this.behaviour.created), ...post });
  }

  override boardOf(given: string): { id: number; slug: string } | undefined {
    const { boardIds } = this.behaviour;
    return this.boards().find(({ id, slug }) => slug === given || (boardIds && String(id) === given));
  }

  editComment(id: number, edit: CommentEdit): void {
    updateRow(this.db, 'comments', id, commentColumns(this.lookup, edit));
  }

  editUser(id: number, edit: UserEdit): void {
    updateRow(this.db, 'users', id, userColumns(edit));
  }

  /** Every create that took effect through the API, in the order of the posts. */
  ledger(): LedgerEntry[] {
    settle(this);
    return readLedger(this.db);
  }
}
