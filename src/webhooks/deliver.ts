import { randomUUID } from 'node:crypto';
import { type Clock, isDue } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Change } from '../changes/change.ts';
import type { ChangeFeed, ChangePage } from '../changes/feed.ts';
import type { Webhook } from '../contract/telling.ts';
import { counted } from '../text/text.ts';
import { type Message, messageOfChange, postOf, testMessage } from './message.ts';
import type { ReceiverAnswer, WebhookSender } from './send.ts';
import type { WebhookStore } from './store.ts';

export interface DeliveryDeps {
  feed: ChangeFeed;
  store: WebhookStore;
  sender: Pick<WebhookSender, 'post'>;
  clock: Clock;
  signal: AbortSignal;
  mirrorId: string;
  /** Where the upstream's own pages are, for links; null where it has none. */
  base: string | null;
  random: () => number;
}

/** What an endpoint gets that does not say which types it wants: what people want to be told, and not every write. */
export const EVENT_TYPES = [
  ...['post.created', 'post.edited', 'post.status_changed', 'post.votes_changed', 'post.moved'],
  ...['post.deleted', 'post.restored', 'post.erased'],
  ...['comment.created', 'comment.edited', 'comment.deleted', 'comment.restored'],
  ...[
    'outbox.sent',
    'outbox.rejected',
    'outbox.needs_decision',
    'sync.held',
    'sync.failed',
    'sync.recovered',
  ],
];

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
/** Waits between the attempts for one change, as Standard Webhooks proposes; after the last attempt the endpoint is disabled. */
export const RETRY_MS = [
  ...[5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
];
const JITTER = 0.1;
export const LONGEST_RETRY_MS = Math.max(...RETRY_MS) * (1 + JITTER);

export interface DeliveryResult {
  delivered: number;
  /** Changes that it was not told of, and that are not kept any more. */
  lost: number;
  /** How long to wait before the change that failed is tried again; null where all went well, or nothing more is tried. */
  retryMs: number | null;
  disabledWhy: string | null;
}

/** Tells one endpoint everything it was not told yet, in order, until it is told or an attempt fails. */
export async function deliver(deps: DeliveryDeps, endpoint: Webhook): Promise<DeliveryResult> {
  const { store, clock, signal } = deps;
  const { id } = endpoint;
  const done: DeliveryResult = { delivered: 0, lost: 0, retryMs: null, disabledWhy: null };
  for (;;) {
    signal.throwIfAborted();
    const { position, disabled_at, not_before, lost } = store.state(id);
    if (disabled_at !== null) return done;
    const at = not_before === null ? 0 : Date.parse(not_before);
    if (!isDue(at, clock.now(), LONGEST_RETRY_MS)) return { ...done, retryMs: at - clock.now() };
    if (lost > 0) skipLost(deps, id, position + lost, lost);
    done.lost += lost;
    const page = nextPage(deps, endpoint, position + lost);
    for (const change of page.changes.filter((one) => isMeant(one, endpoint.rule))) {
      const answer = await attempt(deps, endpoint, change);
      if (answer.error !== null) return { ...done, ...fail(deps, endpoint, answer) };
      store.advance(id, change.number);
      done.delivered++;
    }
    store.advance(id, Number.parseInt(page.next, 10));
    if (page.isLast) return done;
  }
}

const PAGE = 50;

/** An endpoint that was away for longer than changes are kept goes on with the oldest that is left. What it missed stands among its deliveries. */
function skipLost({ store, clock }: DeliveryDeps, id: string, last: number, lost: number): void {
  const error = `it can no longer be told of ${counted(lost, 'change')} up to ${last}: CHANGES_KEEP was over`;
  const at = new Date(clock.now()).toISOString();
  store.note(id, { change: last, type: 'webhook.lost', at, status: null, ms: 0, error });
  store.advance(id, last);
}

function nextPage({ feed }: DeliveryDeps, { types, boards, rule }: Webhook, position: number): ChangePage {
  // A rule chooses by itself: the number of comments changes in a `post.updated`.
  const usual = rule ? [...EVENT_TYPES, 'post.updated'] : EVENT_TYPES;
  const query = { limit: PAGE, types: types ?? usual, boards: boards ?? undefined };
  return feed.after(String(position), query);
}

async function attempt(deps: DeliveryDeps, endpoint: Webhook, change: Change): Promise<ReceiverAnswer> {
  const creator = change.comment?.creator_id ?? change.post?.creator_id;
  const author = endpoint.personal && typeof creator === 'number' ? deps.store.author(creator) : null;
  return await send(deps, endpoint, messageOfChange(deps.mirrorId, change, author));
}

/** One POST, noted whatever comes of it. */
async function send(deps: DeliveryDeps, endpoint: Webhook, message: Message): Promise<ReceiverAnswer> {
  const { store, sender, clock, signal, base } = deps;
  const at = new Date(clock.now()).toISOString();
  const answer = await sender.post(postOf(endpoint, message, clock.now(), base), signal);
  const { status, ms, error } = answer;
  store.note(endpoint.id, { change: message.change?.number ?? 0, type: message.type, at, status, ms, error });
  return answer;
}

const GONE = 410;

function fail({ store, clock, random }: DeliveryDeps, { id }: Webhook, answer: ReceiverAnswer) {
  const { failures } = store.state(id);
  const wait = RETRY_MS[failures];
  const retryMs =
    wait === undefined ? 0 : Math.max(Math.round(wait * (1 + JITTER * random())), answer.waitMs ?? 0);
  const disabledWhy =
    answer.status === GONE
      ? 'it answered 410: it wants no more messages'
      : wait === undefined
        ? `${failures + 1} attempts failed, the last because ${answer.error}`
        : null;
  const now = clock.now();
  const times = { at: new Date(now).toISOString(), notBefore: new Date(now + retryMs).toISOString() };
  store.failed({ id, ...times, disabledWhy });
  return { retryMs: disabledWhy === null ? retryMs : null, disabledWhy };
}

const RULE_FIELDS = {
  votes: 'votes_count',
  comments: 'comments_count',
  status: 'status',
  board: 'board',
} as const;

/** Whether a change makes the rule true: it was not before, and is now. A change of something else does not. */
export function isMeant({ before, after }: Change, rule: Webhook['rule']): boolean {
  if (!rule) return true;
  const name = RULE_FIELDS[rule.field];
  const holds = (value: unknown): boolean => value !== undefined && value !== null && compare(value, rule);
  return holds(after?.[name]) && !holds(before?.[name]);
}

function compare(value: unknown, { operator, value: wanted }: NonNullable<Webhook['rule']>): boolean {
  const order =
    typeof value === 'number'
      ? value - Number(wanted)
      : String(value).toLowerCase() === wanted.toLowerCase()
        ? 0
        : 1;
  if (operator === '=') return order === 0;
  if (operator === '!=') return order !== 0;
  if (operator === '>') return order > 0;
  if (operator === '>=') return order >= 0;
  return operator === '<' ? order < 0 : order <= 0;
}

/** A person asks: the same change once more, outside of the order, with the id it always has. */
export async function replay(deps: DeliveryDeps, endpoint: Webhook, number: number): Promise<ReceiverAnswer> {
  const change = deps.feed.find(number);
  if (!change) throw new AppError('usage', `there is no change ${number} any more`);
  return await attempt(deps, endpoint, change);
}

export async function sendTestMessage(deps: DeliveryDeps, endpoint: Webhook): Promise<ReceiverAnswer> {
  return await send(deps, endpoint, testMessage(randomUUID(), new Date(deps.clock.now()).toISOString()));
}
