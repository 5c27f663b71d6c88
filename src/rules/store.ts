import { iso } from '../base/clock.ts';
import type { Db, OpenOptions } from '../db/open.ts';
import { immediate, scalar } from '../db/sql.ts';
import { openMirror } from '../mirror/file/open.ts';
import type { MessageItem, RuleMessage } from './message.ts';

export interface RuleState {
  name: string;
  position: number;
  checked_at: string;
  slot: string | null;
  paused_at: string | null;
}

/** What became of one message in one channel. */
export interface RuleDelivery {
  rule: string;
  key: string;
  channel: string;
  state: 'waiting' | 'sending' | 'sent' | 'failed';
  attempts: number;
  unclear: number;
  not_before: string | null;
  sent_at: string | null;
  error: string | null;
}

/** A step of one rule: how far it has looked, and the message that it made of it. */
export interface RuleStep {
  name: string;
  position: number;
  at: number;
  slot: number | null;
  message: { key: string; since: number; items: readonly MessageItem[]; channels: readonly string[] } | null;
}

/** Older ones go once nothing of them waits. */
const KEPT_MESSAGES = 500;
const OPEN = `state IN ('waiting', 'sending')`;

export type RuleStore = ReturnType<typeof openRuleStore>;

export function openRuleStore(options: OpenOptions) {
  const db = openMirror(options);
  db.pragma('cache_size = -500');
  // A message that a channel has taken must not be forgotten in a power cut.
  db.pragma('synchronous = FULL');
  return {
    ...stateWrites(db),
    ...deliveryWrites(db),
    ...alarms(db),
    head: (): number => headOf(db).get() ?? 0,
    close: (): void => void db.close(),
  };
}

const headOf = (db: Db) => scalar(db)<[], number>('SELECT coalesce(max(n), 0) FROM changes');

function stateWrites(db: Db) {
  const find = db.prepare<[string], RuleState>('SELECT * FROM rules WHERE name = ?');
  const head = headOf(db);
  const begin = db.prepare(`
    INSERT INTO rules (name, position, checked_at, slot) VALUES ($name, $position, $at, $slot) ON CONFLICT DO NOTHING`);
  const advance = db.prepare(`
    UPDATE rules SET position = $position, checked_at = $at, slot = $slot WHERE name = $name`);
  const pause = db.prepare('UPDATE rules SET paused_at = ? WHERE name = ?');
  const make = db.prepare(`
    INSERT INTO rule_messages (rule, key, made_at, since, until, items) VALUES ($name, $key, $at, $since, $at, $items)
        ON CONFLICT DO NOTHING`);
  const deliver = db.prepare('INSERT INTO rule_deliveries (rule, key, channel) VALUES (?, ?, ?)');
  const trim = db.prepare(`
    DELETE FROM rule_messages WHERE rule = $name AND made_at < (
      SELECT made_at FROM rule_messages WHERE rule = $name ORDER BY made_at DESC LIMIT 1 OFFSET ${KEPT_MESSAGES})
       AND NOT EXISTS (SELECT 1 FROM rule_deliveries d WHERE d.rule = rule_messages.rule AND d.key = rule_messages.key AND ${OPEN})`);
  return {
    /** A new rule tells of what comes after now, beginning with the next moment of its schedule. */
    state: (name: string, now: number, slot: number | null): RuleState => {
      const known = find.get(name);
      if (known) return known;
      begin.run({ name, position: head.get() ?? 0, at: iso(now), slot: slot && iso(slot) });
      return find.get(name) as RuleState;
    },
    known: (name: string): RuleState | null => find.get(name) ?? null,
    /** The message and how far the rule has looked, together: a kill makes it neither twice nor not at all. */
    commit: immediate(db, ({ name, position, at, slot, message }: RuleStep): boolean => {
      advance.run({ name, position, at: iso(at), slot: slot && iso(slot) });
      if (message === null) return false;
      const { key, since, items, channels } = message;
      const facts = { name, key, at: iso(at), since: iso(since), items: JSON.stringify(items) };
      if (make.run(facts).changes === 0) return false;
      for (const channel of channels) deliver.run(name, key, channel);
      trim.run({ name });
      return true;
    }),
    pause: (name: string, now: number): void => void pause.run(iso(now), name),
    /** What happened while it was paused is not told. */
    resume: immediate(db, (name: string, now: number, slot: number | null): void => {
      pause.run(null, name);
      advance.run({ name, position: head.get() ?? 0, at: iso(now), slot: slot && iso(slot) });
    }),
  };
}

function deliveryWrites(db: Db) {
  const where = 'WHERE rule = $rule AND key = $key AND channel = $channel';
  const claim = db.prepare(`
    UPDATE rule_deliveries SET state = 'sending', attempts = attempts + 1 ${where} AND state = 'waiting'`);
  const sent = db.prepare(`UPDATE rule_deliveries SET state = 'sent', sent_at = $at, error = NULL ${where}`);
  const retry = db.prepare(`
    UPDATE rule_deliveries SET state = $state, not_before = $notBefore, unclear = max(unclear, $unclear), error = $error ${where}`);
  const interrupted = db.prepare(
    "UPDATE rule_deliveries SET state = 'waiting', unclear = 1 WHERE state = 'sending'",
  );
  const again = db.prepare(`
    UPDATE rule_deliveries SET state = 'waiting', attempts = 0, not_before = NULL WHERE rule = ? AND state = 'failed'`);
  const drop = db.prepare(`
    UPDATE rule_deliveries SET state = 'failed', error = 'the rule or the channel is not in the file any more'
     WHERE ${OPEN} AND (rule NOT IN (SELECT value FROM json_each($rules)) OR channel NOT IN (SELECT value FROM json_each($channels)))`);
  return {
    ...deliveryReads(db),
    /** On disk before the first byte goes out; false where it is not waiting any more. */
    claim: ({ rule, key, channel }: RuleDelivery): boolean => claim.run({ rule, key, channel }).changes === 1,
    noteSent: ({ rule, key, channel }: RuleDelivery, now: number): void =>
      void sent.run({ rule, key, channel, at: iso(now) }),
    noteFailed: (
      one: RuleDelivery,
      failure: { at: number | null; isUnclear: boolean; error: string },
    ): void => {
      const { rule, key, channel } = one;
      const state = failure.at === null ? 'failed' : 'waiting';
      const notBefore = failure.at === null ? null : iso(failure.at);
      retry.run({
        rule,
        key,
        channel,
        state,
        notBefore,
        unclear: Number(failure.isUnclear),
        error: failure.error,
      });
    },
    /** What a process before this one was sending: it is not known whether the channel has it. Returns how many. */
    noteInterrupted: (): number => interrupted.run().changes,
    retryFailed: (rule: string): number => again.run(rule).changes,
    keepOnly: (rules: readonly string[], channels: readonly string[]): void =>
      void drop.run({ rules: JSON.stringify(rules), channels: JSON.stringify(channels) }),
  };
}

function deliveryReads(db: Db) {
  const next = db.prepare<[string, string], RuleDelivery>(`
    SELECT d.* FROM rule_deliveries d JOIN rule_messages m USING (rule, key)
     WHERE d.channel = ? AND d.state = 'waiting' AND (d.not_before IS NULL OR d.not_before <= ?)
     ORDER BY m.made_at, d.rule, d.key LIMIT 1`);
  const message = db.prepare<
    [string, string],
    Omit<RuleMessage, 'items' | 'madeAt'> & { items: string; made_at: string }
  >('SELECT * FROM rule_messages WHERE rule = ? AND key = ?');
  const list = db.prepare<[string, number], RuleDelivery>(`
    SELECT d.* FROM rule_deliveries d JOIN rule_messages m USING (rule, key) WHERE d.rule = ? ORDER BY m.made_at DESC, d.channel LIMIT ?`);
  return {
    nextDelivery: (channel: string, now: number): RuleDelivery | null => next.get(channel, iso(now)) ?? null,
    message: (rule: string, key: string): RuleMessage | null => {
      const found = message.get(rule, key);
      if (!found) return null;
      const { made_at: madeAt, items, ...rest } = found;
      return { ...rest, madeAt, items: JSON.parse(items) as MessageItem[] };
    },
    deliveries: (rule: string, limit: number): RuleDelivery[] => list.all(rule, limit),
  };
}

function alarms(db: Db) {
  const find = db.prepare<[string, string], { board_id: number }>(
    'SELECT board_id FROM rule_alarms WHERE rule = ? AND at > ?',
  );
  const note = db.prepare(`
    INSERT INTO rule_alarms (rule, board_id, at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET at = excluded.at`);
  return {
    /** Boards that this rule told of since then. */
    alarmedSince: (rule: string, since: number): Set<number> =>
      new Set(find.all(rule, iso(since)).map(({ board_id }) => board_id)),
    noteAlarm: (rule: string, board: number, at: number): void => void note.run(rule, board, iso(at)),
  };
}
