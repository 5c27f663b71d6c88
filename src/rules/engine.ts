import { CLOCK_STEP_MS, type Clock, pastOrNull } from '../base/clock.ts';
import { crashPoint } from '../base/crash.ts';
import { codeOf } from '../base/errors.ts';
import type { ChangeFeed } from '../changes/feed.ts';
import type { Channel, Rule } from '../contract/telling.ts';
import { RETRY_MS } from '../webhooks/deliver.ts';
import { type ChannelContext, type ChannelOutcome, channelMessageId, send } from './channels.ts';
import { dueSlot, lastSlot, nextSlot } from './decide/slots.ts';
import { type AllSources, type DigestDeps, digestOf, digestOfAll } from './digest.ts';
import { gather, type RuleFacts } from './gather.ts';
import { type Letter, letterOf } from './letter.ts';
import type { RuleMessage } from './message.ts';
import type { RuleDelivery, RuleState, RuleStore } from './store.ts';

export interface EngineDeps {
  rules: readonly Rule[];
  channels: readonly Channel[];
  store: RuleStore;
  facts: Omit<RuleFacts, 'alarmed'>;
  writing: DigestDeps;
  /** For a message over all sources. */
  openAll(): Promise<AllSources>;
  sending: Omit<ChannelContext, 'signal'>;
  mirrorId: string;
  clock: Clock;
  random: () => number;
}

/** Looks at every rule once and writes down what there is to tell. A rule that fails keeps no other from it. */
export async function lookAtRules(
  deps: EngineDeps,
): Promise<{ made: number; failures: { rule: string; error: unknown }[] }> {
  const failures: { rule: string; error: unknown }[] = [];
  let made = 0;
  for (const rule of deps.rules)
    try {
      if (await makeMessage(deps, rule, deps.clock.now())) made++;
    } catch (error) {
      failures.push({ rule: rule.name, error });
    }
  return { made, failures };
}

async function makeMessage({ store, facts }: EngineDeps, rule: Rule, now: number): Promise<boolean> {
  const state = store.state(rule.name, now, lastSlot(rule, now));
  if (state.paused_at !== null) return false;
  if (isAhead(state, now))
    return store.commit({
      name: rule.name,
      position: state.position,
      at: now,
      slot: lastSlot(rule, now),
      message: null,
    });
  const slot = dueSlot(rule, state.slot === null ? null : Date.parse(state.slot), now);
  if (slot === null) return false;
  const span = { position: state.position, since: sinceOf(state, now), until: slot };
  const alarmed = (name: string, since: number) => store.alarmedSince(name, since);
  const { items, position } = await gather({ ...facts, alarmed }, rule, {
    ...span,
    position: kept(facts.feed, state),
  });
  const isTold = rule.what === 'digest' || items.length > 0;
  // A rule that tells at once writes only where there is something to tell, or changes were passed over.
  if (!isTold && rule.every === 'at-once' && position === state.position && now - span.since < QUIET_MS)
    return false;
  const key =
    rule.every === 'at-once' ? `${new Date(now).toISOString()}-${position}` : new Date(slot).toISOString();
  const message = isTold ? { key, since: span.since, items, channels: rule.to } : null;
  const made = store.commit({
    name: rule.name,
    position,
    at: slot,
    slot: rule.every === 'at-once' ? null : slot,
    message,
  });
  for (const item of made ? items : []) if (item.kind === 'board') store.noteAlarm(rule.name, item.id, now);
  return made;
}

/** The clock was ahead when the last slot was stored, so that this slot is in the future. The rule waits for its next slot. */
function isAhead({ slot }: RuleState, now: number): boolean {
  return slot !== null && Date.parse(slot) > now + CLOCK_STEP_MS;
}

/** A look without news is recorded this often, so that the next look covers a short time. */
const QUIET_MS = 60_000;

/** A stored moment that has not come yet was written while the clock was ahead. */
function sinceOf({ checked_at }: RuleState, now: number): number {
  return pastOrNull(Date.parse(checked_at), now) ?? now;
}

/** Where changes were dropped before the rule looked, it goes on with the oldest that is kept. */
function kept(feed: ChangeFeed, { position }: RuleState): number {
  const { oldest } = feed.head();
  return oldest === null ? position : Math.max(position, oldest - 1);
}

export interface Delivered {
  sent: number;
  /** The message that was not taken; what comes after it waits for the next look. */
  failed: { rule: string; kind: 'refused' | 'unclear' } | null;
}

/** Sends what waits in one channel, one message after the other. */
export async function deliverTo(deps: EngineDeps, channel: Channel, signal: AbortSignal): Promise<Delivered> {
  const { store, clock } = deps;
  let sent = 0;
  for (
    let next = store.nextDelivery(channel.name, clock.now());
    next;
    next = store.nextDelivery(channel.name, clock.now())
  ) {
    signal.throwIfAborted();
    const outcome = await attempt(deps, channel, next, signal);
    if (outcome === null) continue;
    if (outcome.kind !== 'sent') return { sent, failed: { rule: next.rule, kind: outcome.kind } };
    sent++;
  }
  return { sent, failed: null };
}

async function attempt(
  deps: EngineDeps,
  channel: Channel,
  one: RuleDelivery,
  signal: AbortSignal,
): Promise<ChannelOutcome | null> {
  const { store, rules, clock } = deps;
  const rule = rules.find(({ name }) => name === one.rule);
  const message = store.message(one.rule, one.key);
  if (!rule || !message) {
    store.noteFailed(one, { at: null, isUnclear: false, error: 'the rule is not in the file any more' });
    return null;
  }
  const letter = { ...(await writeLetter(deps, rule, message)), isRepeated: one.unclear === 1 };
  if (!store.claim(one)) return null;
  crashPoint('rule-claimed');
  const id = channelMessageId(deps.mirrorId, one.rule, one.key, channel.name);
  const outcome = await send({ ...deps.sending, signal }, channel, { letter, id, rule: rule.name }).catch(
    (error: unknown) => failed(error),
  );
  crashPoint('rule-sent');
  note(deps, one, outcome, clock.now());
  return outcome;
}

function failed(error: unknown): ChannelOutcome {
  return { kind: 'unclear', error: `it failed (${codeOf(error)})`, isFinal: false };
}

export async function writeLetter(
  { writing, openAll }: Pick<EngineDeps, 'writing' | 'openAll'>,
  rule: Rule,
  message: RuleMessage,
): Promise<Letter> {
  const [since, until] = [Date.parse(message.since), Date.parse(message.until)];
  if (rule.sources === 'all') {
    const all = await openAll();
    return await digestOfAll(all, rule, since, until).finally(() => all.close());
  }
  const letter =
    rule.what === 'digest' ? await digestOf(writing, rule, since, until) : letterOf(writing, rule, message);
  // Several sources may tell one channel by the same rules.
  return writing.source === null ? letter : { ...letter, subject: `${writing.source}: ${letter.subject}` };
}

const JITTER = 0.1;

function note({ store, random }: EngineDeps, one: RuleDelivery, outcome: ChannelOutcome, now: number): void {
  if (outcome.kind === 'sent') {
    store.noteSent(one, now);
    return;
  }
  const wait = RETRY_MS[one.attempts];
  const at = outcome.isFinal || wait === undefined ? null : now + wait * (1 + JITTER * random());
  store.noteFailed(one, { at, isUnclear: outcome.kind === 'unclear', error: outcome.error });
}

const DAY_MS = 86_400_000;
const PERIOD_MS = { 'at-once': DAY_MS, hourly: 3_600_000, daily: DAY_MS, weekly: 7 * DAY_MS };

/** What the rule would tell of its last period, without sending or writing anything down. */
export async function previewLetter(
  deps: Pick<EngineDeps, 'writing' | 'openAll' | 'facts' | 'clock' | 'store'>,
  rule: Rule,
): Promise<Letter> {
  const until = lastSlot(rule, deps.clock.now()) ?? deps.clock.now();
  const since = until - PERIOD_MS[rule.every];
  const position = positionBefore(deps.facts.feed, deps.facts.db, since);
  const { items } = await gather({ ...deps.facts, alarmed: () => new Set() }, rule, {
    position,
    since,
    until,
  });
  const [from, to] = [new Date(since).toISOString(), new Date(until).toISOString()];
  return await writeLetter(deps, rule, {
    rule: rule.name,
    key: 'preview',
    madeAt: to,
    since: from,
    until: to,
    items,
  });
}

function positionBefore(feed: ChangeFeed, db: RuleFacts['db'], at: number): number {
  const first = db
    .prepare<[string], { n: number }>('SELECT min(n) AS n FROM changes WHERE at >= ?')
    .get(new Date(at).toISOString());
  return first?.n == null ? Number.parseInt(feed.head().position, 10) : first.n - 1;
}

export interface TestResult {
  channel: string;
  outcome: ChannelOutcome;
}

/** Sends what the rule would tell of its last period, marked as a test, to each of its channels. Nothing is written down. */
export async function sendTest(deps: EngineDeps, rule: Rule, signal: AbortSignal): Promise<TestResult[]> {
  const letter = await previewLetter(deps, rule);
  const test = { ...letter, subject: `[test] ${letter.subject}` };
  const channels = deps.channels.filter(({ name }) => rule.to.includes(name));
  return await Promise.all(
    channels.map(async (channel) => {
      const id = channelMessageId(deps.mirrorId, rule.name, `test ${deps.clock.now()}`, channel.name);
      return {
        channel: channel.name,
        outcome: await send({ ...deps.sending, signal }, channel, { letter: test, id, rule: rule.name }),
      };
    }),
  );
}

export interface RuleView {
  name: string;
  what: Rule['what'];
  every: Rule['every'];
  to: readonly string[];
  pausedAt: string | null;
  /** When the next message of its schedule is made; null for a rule that tells at once. */
  next: string | null;
  /** Messages by what became of them, and the last failure. */
  waiting: number;
  failed: number;
  lastSent: string | null;
  lastError: string | null;
}

const SHOWN_DELIVERIES = 200;

/** Every rule with how its messages fare, for people. */
export function viewRules({
  rules,
  store,
  clock,
}: Pick<EngineDeps, 'rules' | 'store' | 'clock'>): RuleView[] {
  return rules.map((rule) => {
    const { name, what, every, to } = rule;
    const deliveries = store.deliveries(name, SHOWN_DELIVERIES);
    const next = nextSlot(rule, clock.now());
    const count = (...states: RuleDelivery['state'][]): number =>
      deliveries.filter(({ state }) => states.includes(state)).length;
    return {
      ...{ name, what, every, to },
      pausedAt: store.known(name)?.paused_at ?? null,
      next: next === null ? null : new Date(next).toISOString(),
      waiting: count('waiting', 'sending'),
      failed: count('failed'),
      lastSent:
        deliveries
          .map(({ sent_at }) => sent_at ?? '')
          .sort()
          .at(-1) || null,
      lastError: deliveries.find(({ error }) => error !== null)?.error ?? null,
    };
  });
}

/** Stops a rule, or lets it go on with what comes from now on; a rule that was never looked at is known after that. */
export function pauseRule(
  { store, clock }: Pick<EngineDeps, 'store' | 'clock'>,
  rule: Rule,
  isPaused: boolean,
): void {
  const now = clock.now();
  store.state(rule.name, now, lastSlot(rule, now));
  if (isPaused) store.pause(rule.name, now);
  else store.resume(rule.name, now, lastSlot(rule, now));
}
