import type { Db, OpenOptions } from '../db/open.ts';
import { scalar } from '../db/sql.ts';
import { openMirror } from '../mirror/file/open.ts';

/** How far one endpoint was told. */
export interface WebhookState {
  id: string;
  /** The number of the last change that was delivered, or that it does not want. */
  position: number;
  /** Attempts for the next change that failed. */
  failures: number;
  failing_since: string | null;
  not_before: string | null;
  disabled_at: string | null;
  disabled_why: string | null;
  /** Changes after the position that are not kept any more: it will never be told of them. */
  lost: number;
}

const STATES = `
  SELECT *, max(0, coalesce((SELECT min(n) FROM changes), 0) - 1 - position) AS lost FROM webhooks`;

export interface Delivery {
  n: number;
  /** 0 for a test event. */
  change: number;
  type: string;
  at: string;
  ms: number;
  /** Null where no answer came. */
  status: number | null;
  error: string | null;
}

/** Why one is not told that a person has paused. */
export const PAUSED = 'a person paused it';

/** Deliveries that are kept of each endpoint, for people to look at. */
const KEPT_DELIVERIES = 500;

export type WebhookStore = ReturnType<typeof openWebhookStore>;

/** What is known of webhook endpoints between two attempts, and after a restart. */
export function openWebhookStore(options: OpenOptions) {
  const db = openMirror(options);
  db.pragma('cache_size = -500');
  const find = db.prepare<[string], WebhookState>(`${STATES} WHERE id = ?`);
  const make = db.prepare(`
    INSERT INTO webhooks (id, position) VALUES (?, (SELECT coalesce(max(n), 0) FROM changes)) ON CONFLICT DO NOTHING`);
  // A handler that was thought dead may come late: a position never goes back.
  const advance = db.prepare(`
    UPDATE webhooks SET position = $position, failures = 0, failing_since = NULL, not_before = NULL
     WHERE id = $id AND position < $position`);
  const fail = db.prepare(`
    UPDATE webhooks SET failures = failures + 1, failing_since = coalesce(failing_since, $at), not_before = $notBefore,
                        disabled_at = iif($disabledWhy IS NULL, NULL, $at), disabled_why = $disabledWhy
     WHERE id = $id`);
  const enable = db.prepare(`
    UPDATE webhooks SET failures = 0, failing_since = NULL, not_before = NULL, disabled_at = NULL, disabled_why = NULL WHERE id = ?`);
  const pause = db.prepare('UPDATE webhooks SET disabled_at = $at, disabled_why = $why WHERE id = $id');
  const forget = [
    db.prepare('DELETE FROM webhooks WHERE id NOT IN (SELECT value FROM json_each(?))'),
    db.prepare('DELETE FROM webhook_deliveries WHERE webhook NOT IN (SELECT value FROM json_each(?))'),
  ];
  const head = scalar(db)<[], number>('SELECT coalesce(max(n), 0) FROM changes');
  const author = db.prepare<[number], { name: string | null; email: string | null }>(`
    SELECT name, email FROM users WHERE id = ?`);
  return {
    /** A new endpoint is told of what comes after now. */
    state(id: string): WebhookState {
      const known = find.get(id);
      if (known) return known;
      make.run(id);
      return find.get(id) as WebhookState;
    },
    /** Forgets every endpoint but these: one that comes back later is told of what comes then. */
    keepOnly: db.transaction((ids: readonly string[]): void => {
      const given = JSON.stringify(ids);
      for (const statement of forget) statement.run(given);
    }),
    /** How many changes came after the last one that this endpoint was told of. */
    lag: (position: number): number => Math.max(0, (head.get() ?? 0) - position),
    advance: (id: string, position: number): void => void advance.run({ id, position }),
    failed: (failure: { id: string; at: string; notBefore: string; disabledWhy: string | null }): void =>
      void fail.run(failure),
    /** A person says that it works again: the change it stands at is tried at once. */
    enable: (id: string): void => void enable.run(id),
    /** A person says that it is to be left alone for now. */
    pause: (id: string, at: string): void => void pause.run({ id, at, why: PAUSED }),
    ...deliveryLog(db),
    author: (userId: number) => author.get(userId) ?? null,
    close: (): void => void db.close(),
  };
}

function deliveryLog(db: Db) {
  const note = db.prepare(`
    INSERT INTO webhook_deliveries (webhook, change, type, at, ms, status, error)
    VALUES ($id, $change, $type, $at, $ms, $status, $error)`);
  const trim = db.prepare(`
    DELETE FROM webhook_deliveries WHERE webhook = $id AND n <=
      (SELECT n FROM webhook_deliveries WHERE webhook = $id ORDER BY n DESC LIMIT 1 OFFSET ${KEPT_DELIVERIES})`);
  const deliveries = db.prepare<[string, number], Delivery>(`
    SELECT n, change, type, at, ms, status, error FROM webhook_deliveries WHERE webhook = ? ORDER BY n DESC LIMIT ?`);
  return {
    note: db.transaction((id: string, delivery: Omit<Delivery, 'n'>): void => {
      note.run({ id, ...delivery });
      trim.run({ id });
    }),
    deliveries: (id: string, limit: number): Delivery[] => deliveries.all(id, limit),
  };
}

/** Endpoints that are disabled or failing. */
export function troubledWebhooks(db: Db): WebhookState[] {
  return db
    .prepare<[], WebhookState>(`
      ${STATES} WHERE disabled_at IS NOT NULL OR failures > 0 ORDER BY id`)
    .all();
}
