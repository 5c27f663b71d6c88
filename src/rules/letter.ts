import type { Change } from '../changes/change.ts';
import type { ChangeFeed } from '../changes/feed.ts';
import type { Rule } from '../contract/telling.ts';
import type { Db } from '../db/open.ts';
import { LINE_COLUMNS, LINE_TABLES, type PostLine } from '../search/browse/post.ts';
import { replaceAddresses } from '../text/addresses.ts';
import { counted, oneLine, shortName, webAddress } from '../text/text.ts';
import type { MessageItem, RuleMessage } from './message.ts';

/** A message in words, whatever the channel makes of it. No names or addresses of people. */
export interface Letter {
  subject: string;
  intro: string;
  sections: Section[];
  /** Where the dashboard has more; null where its address is not known. */
  link: string | null;
  /** An earlier attempt may have arrived. */
  isRepeated: boolean;
}

export interface Section {
  head: string;
  lines: Line[];
  /** How many more there are than lines. */
  more: number;
}

export interface Line {
  text: string;
  /** The title of a post; null where the line is about none. */
  title: string | null;
  link: string | null;
}

export interface LetterContext {
  db: Db;
  feed: ChangeFeed;
  /** Where there are several; null where there is one without a name. */
  source: string | null;
  /** The address of the dashboard, without a slash at its end; null where the settings do not say. */
  dashboard: string | null;
  /** For links to the service itself where there is no dashboard. */
  upstream: string | null;
  /** Whether each post comes with the name of its source: in a message over all of them. */
  namesSource: boolean;
}

/** So many things are named; the others are counted. */
const MOST_LINES = 20;

const SUBJECTS: Record<Exclude<Rule['what'], 'digest'>, (n: number, rule: Rule) => string> = {
  'new-posts': (n) => counted(n, 'new post'),
  status: (n) => counted(n, 'new status', 'new statuses'),
  customer: (n, { segment }) => `${counted(n, 'message')} of ${segment ?? 'customers'}`,
  unanswered: (n, { days }) => `${counted(n, 'post')} without a reply for ${counted(days, 'day')}`,
  votes: (n) => `Unusual votes on ${counted(n, 'board')}`,
  drift: (n) => `The API changed in ${counted(n, 'field')}`,
  trouble: (n) => counted(n, 'thing needs a look', 'things need a look'),
};

/** The words of a message as the mirror has them now: a text that was erased since is in none. */
export function letterOf(writing: LetterContext, rule: Rule, message: RuleMessage): Letter {
  if (rule.what === 'digest') throw new Error('a digest has sections of its own');
  const lineOf = lineReader(writing);
  const lines = message.items.map(lineOf).filter((line) => line !== null);
  const subject = SUBJECTS[rule.what](message.items.length, rule);
  const head = `${message.since.slice(0, 16).replace('T', ' ')} to ${message.until.slice(0, 16).replace('T', ' ')} UTC`;
  const shown = lines.slice(0, MOST_LINES);
  const more = lines.length - shown.length;
  return {
    subject,
    intro: '',
    sections: [{ head, lines: shown, more }],
    link: writing.dashboard,
    isRepeated: false,
  };
}

/** A post of a source, with what is said about it. */
export interface PostOf {
  writing: LetterContext;
  id: number;
  text: string;
}

/** A list of posts as a section. */
export function postSection(head: string, posts: readonly PostOf[], more = 0): Section {
  const lines = posts.flatMap(({ writing, id, text }) => postReader(writing)(id, text) ?? []);
  return { head, lines, more };
}

function lineReader(writing: LetterContext): (item: MessageItem) => Line | null {
  const { db, feed } = writing;
  const post = postReader(writing);
  const board = db.prepare<[number], { name: string; slug: string }>(
    'SELECT name, slug FROM boards WHERE id = ?',
  );
  const drift = db.prepare<[number], DriftRow>('SELECT * FROM drifts WHERE n = ?');
  return (item) => {
    if (item.kind === 'change') return changeLine(feed.find(item.n), post);
    if (item.kind === 'post') return post(item.id, '');
    if (item.kind === 'board') {
      const found = board.get(item.id);
      const text = `${found?.name ?? item.id}: ${counted(item.votes, 'vote')} in two days, usual are ${item.usual}`;
      return {
        text: oneLine(text),
        title: null,
        link: linkTo(writing.dashboard, found && `/boards/${encodeURIComponent(found.slug)}`),
      };
    }
    const found = drift.get(item.n);
    return found ? { text: driftText(found), title: null, link: linkTo(writing.dashboard, '/sync') } : null;
  };
}

function linkTo(dashboard: string | null, path: string | undefined): string | null {
  return dashboard === null || path === undefined ? null : `${dashboard}${path}`;
}

function postReader({
  db,
  dashboard,
  upstream,
  source,
  namesSource,
}: LetterContext): (id: number, text: string) => Line | null {
  const find = db.prepare<[number], PostLine>(`SELECT ${LINE_COLUMNS} FROM ${LINE_TABLES} WHERE p.id = ?`);
  return (id, text) => {
    const found = find.get(id);
    if (!found) return null;
    const { title, url, board, status, votes } = found;
    const name = namesSource ? (source ?? '') : '';
    const facts = [name, text, board, status, counted(votes, 'vote')].filter((part) => part !== '');
    return {
      text: facts.map(withoutPeople).join(', '),
      title: withoutPeople(title) || `Post ${id}`,
      link: dashboard === null ? webAddress(url, upstream) : `${dashboard}/posts/${id}`,
    };
  };
}

function withoutPeople(text: string): string {
  return shortName(replaceAddresses(oneLine(text), () => '[e-mail]'));
}

function changeLine(change: Change | null, post: (id: number, text: string) => Line | null): Line | null {
  if (!change) return null;
  const { type, before, after, sync, outbox_id } = change;
  const id = change.post_id ?? change.post?.id;
  if (type === 'post.status_changed')
    return post(Number(id), `${String(before?.status ?? '?')} → ${String(after?.status ?? '?')}`);
  if (type === 'comment.created') return post(Number(id), 'commented');
  if (type === 'post.created') return post(Number(id), 'new');
  return { text: withoutPeople(TROUBLE[type]?.(sync, outbox_id) ?? type), title: null, link: null };
}

type Facts = Change['sync'];

const TROUBLE: Partial<Record<Change['type'], (sync: Facts, outbox: number | undefined) => string>> = {
  'sync.failed': (sync) => `Reading ${String(sync?.list)} fails: ${String(sync?.error)}`,
  'sync.held': (sync) => `${String(sync?.held)} deletions of ${String(sync?.list)} wait to be accepted`,
  'outbox.rejected': (_, outbox) => `Row ${outbox} of the outbox was rejected`,
  'outbox.needs_decision': (_, outbox) => `Row ${outbox} of the outbox needs a decision`,
};

export interface DriftRow {
  n: number;
  resource: string;
  path: string;
  change: 'appeared' | 'vanished' | 'kind';
  before: string | null;
  after: string | null;
  example: number | null;
  since: string;
  ended_at: string | null;
}

/** `posts: the field "priority" appeared (number), for example in 101, since 2026-03-01`. */
export function driftText({ resource, path, change, before, after, example, since }: DriftRow): string {
  const what = {
    appeared: `appeared (${after})`,
    vanished: `vanished (it was ${before})`,
    kind: `changed from ${before} to ${after}`,
  }[change];
  const where = example === null ? '' : `, for example in ${example}`;
  return `${resource}: the field "${oneLine(path).slice(0, 100)}" ${what}${where}, since ${since.slice(0, 10)}`;
}
