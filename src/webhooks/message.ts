import { createHmac } from 'node:crypto';
import type { Secret } from '../base/secret.ts';
import type { Change, Values } from '../changes/change.ts';
import type { Webhook } from '../contract/telling.ts';
import { replaceAddresses } from '../text/addresses.ts';
import { redactJson } from '../text/redact.ts';
import { linkAddress, shortName, webAddress } from '../text/text.ts';
import type { WebhookRequest } from './send.ts';

/** Of a webhook, what decides how a message to it looks. */
export type Addressee = Pick<Webhook, 'url' | 'key' | 'format' | 'personal'>;

export interface MessageAuthor {
  name: string | null;
  email: string | null;
}

/** Something to tell: a change, or a test that a person asked for. */
export interface Message {
  /** The same for every attempt, for ever: receivers know by it what they already had. */
  id: string;
  type: string;
  time: string;
  change: Change | null;
  author: MessageAuthor | null;
}

/** The mirror's id keeps the messages of two mirrors apart, the position those of a mirror that was put back to an earlier state. */
export function messageOfChange(mirrorId: string, change: Change, author: MessageAuthor | null): Message {
  return {
    id: `chg_${mirrorId.slice(0, 8)}_${change.position.replace('-', '_')}`,
    type: change.type,
    time: change.time,
    change,
    author,
  };
}

export function testMessage(id: string, time: string): Message {
  return { id: `test_${id}`, type: 'webhook.test', time, change: null, author: null };
}

/** A message on its way to one endpoint, by the Standard Webhooks specification. */
export function postOf(
  addressee: Addressee,
  message: Message,
  now: number,
  base: string | null,
): WebhookRequest {
  const { url, key, format } = addressee;
  const shown = addressee.personal ? message : withoutPeople(message);
  const body = JSON.stringify(BODIES[format](shown, base));
  return { url: url.reveal(), headers: headersOf(message.id, body, key, now), body };
}

/** The headers of Standard Webhooks. A receiver without a key gets no signature. */
export function headersOf(id: string, body: string, key: Secret | null, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const hmac = key && createHmac('sha256', Buffer.from(key.reveal(), 'base64'));
  const signature = hmac?.update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'user-agent': 'feedback-mirror',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(signature && { 'webhook-signature': `v1,${signature}` }),
  };
}

const HIDDEN = {
  text: (text: string): string => replaceAddresses(text, HIDDEN.email),
  email: (): string => '[e-mail]',
  name: (): string => '[name]',
};

/**
 * Addresses in titles and texts are hidden, and who wrote it is left out. Nobody's name is in a change but in the status of a comment, which
 * is whatever JSON the upstream sent.
 */
function withoutPeople(message: Message): Message {
  const hidden = (key: string, value: unknown): unknown => {
    if (typeof value !== 'string') return value;
    return key === 'status' ? redactJson(value, HIDDEN, false) : HIDDEN.text(value);
  };
  return {
    ...message,
    change: JSON.parse(JSON.stringify(message.change, hidden)) as Change | null,
    author: null,
  };
}

type Body = (message: Message, base: string | null) => object;

const BODIES: Record<Addressee['format'], Body> = {
  standard: ({ type, time, change, author }) => ({
    type,
    timestamp: time,
    data: { ...change, ...(author ? { author } : {}) },
  }),
  slack: (message, base) => ({ text: sentence(message, base, slackLink, slackText) }),
  // Nobody is called by what somebody wrote into a title.
  discord: (message, base) => ({
    content: sentence(message, base, markdownLink, markdownText),
    allowed_mentions: { parse: [] },
  }),
  teams: (message, base) =>
    teamsCard({
      body: [{ type: 'TextBlock', wrap: true, text: sentence(message, base, markdownLink, markdownText) }],
    }),
};

/** A message of Teams: one adaptive card with this content. */
export function teamsCard(content: object): object {
  const schema = 'http://adaptivecards.io/schemas/adaptive-card.json';
  const card = { $schema: schema, type: 'AdaptiveCard', version: '1.4', ...content };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, content: card }] };
}

type Link = (title: string, url: string) => string;
type Escape = (text: string) => string;

export const slackText: Escape = (text) =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
export const slackLink: Link = (title, url) =>
  `<${linkAddress(url)}|${slackText(title).replace(/\|/g, '¦')}>`;
export const markdownText: Escape = (text) => text.replace(/[\\`*_{}[\]<>#|~@]/g, '\\$&');
export const markdownLink: Link = (title, url) => `[${markdownText(title)}](${linkAddress(url)})`;

/** Discord takes 2,000 characters, and Teams 28 KB: each name is cut, so that a title cannot keep a message from being taken. */
function sentence(
  { type, change, author }: Message,
  base: string | null,
  link: Link,
  escaped: Escape,
): string {
  const plain: Escape = (text) => escaped(shortName(text));
  if (!change) return 'This is a test of Feedback Mirror: messages arrive here.';
  const where = change.source === undefined ? '' : `${plain(change.source)}: `;
  const what = `${where}${TEXTS[change.type]?.(change, plain) ?? type}`;
  const by = author?.name ? ` (${plain(author.name)})` : '';
  if (!change.post) return `${what}${by}`;
  const { title, url } = change.post;
  const address = webAddress(url, base);
  return `${what}: ${address === null ? plain(title) : link(shortName(title), address)}${by}`;
}

const shown = (values: Values | undefined, name: string): string => String(values?.[name] ?? '?');
const countedIn = (values: Values | undefined, name: string, one: string): string =>
  `${shown(values, name)} ${values?.[name] === 1 ? one : `${one}s`}`;

const TEXTS: Partial<Record<Change['type'], (change: Change, plain: Escape) => string>> = {
  'post.created': ({ post }, plain) => `New post on ${plain(post?.board ?? '?')}`,
  'post.edited': () => 'A post was edited',
  'post.status_changed': ({ before, after }, plain) =>
    `${plain(shown(before, 'status'))} → ${plain(shown(after, 'status'))}`,
  'post.votes_changed': ({ after }) => countedIn(after, 'votes_count', 'vote'),
  'post.moved': ({ before, after }, plain) =>
    `Moved from ${plain(shown(before, 'board'))} to ${plain(shown(after, 'board'))}`,
  'post.updated': ({ after }) =>
    after ? countedIn(after, 'comments_count', 'comment') : 'A post was updated',
  'post.deleted': () => 'A post was deleted',
  'post.restored': () => 'A post is back',
  'post.erased': () => 'The text of a post was erased',
  'comment.created': ({ comment }) => (comment?.internal ? 'New internal comment' : 'New comment'),
  'comment.edited': () => 'A comment was edited',
  'comment.updated': () => 'A comment was updated',
  'comment.deleted': () => 'A comment was deleted',
  'comment.restored': () => 'A comment is back',
  'outbox.sent': ({ outbox_id }) => `Row ${outbox_id} of the outbox was sent`,
  'outbox.rejected': ({ outbox_id }) => `Row ${outbox_id} of the outbox was rejected`,
  'outbox.needs_decision': ({ outbox_id }) => `Row ${outbox_id} of the outbox needs a decision`,
  'sync.held': ({ sync }) => `${shown(sync, 'held')} deletions of ${shown(sync, 'list')} wait to be accepted`,
  'sync.failed': ({ sync }, plain) => `Reading ${shown(sync, 'list')} fails: ${plain(shown(sync, 'error'))}`,
  'sync.recovered': ({ sync }) => `Reading ${shown(sync, 'list')} works again`,
};
