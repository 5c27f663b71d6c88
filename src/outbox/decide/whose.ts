import { hash } from 'node:crypto';
import { boardSlug } from '../../text/boards.ts';
import { emailKey, mailbox } from '../../text/email.ts';
import { normalizedText, plainText } from '../../text/markup.ts';
import { isUnspaced } from '../../text/words.ts';

/**
 * Which post is this row's? An unclear row may have left a post, and the API has no key to ask for it by. So four facts of the row and of
 * each post are compared, and one table decides. Nothing here reads, writes or waits.
 *
 *   new     the post was not there before the row's first attempt. Either its number is higher than any known then. Or the mirror had
 *           not seen it by then, and its date, if it has one, is not too early
 *   free    no row is bound to the post (the caller leaves those out), and no person has turned it down for this row
 *   author  `ours`, `shared`, `unknown` or `other`: see `authorOf`
 *   text    `marked`, or by its words `same`, `part`, `near` or `far`, the most alike first: see `textOf`
 *
 * A post is possible for a row if it is new and free, and either its text is `marked` or `same`, by any author, or its text is not `far`
 * and its author is `ours` or `unknown`. A row with a mark that its board keeps has `marked` and `far` posts only.
 *
 * All unclear rows are decided together:
 *
 *   1. A possible post is certain for a row if it is `marked`, or not `near` and its author is `ours` or `shared`. Certain posts are given
 *      out, the most alike first (by text, author, letters of common words, then the older row), and confirm the row. A row gets no post
 *      that is at least as certain (by text and author) for a row with other words, or for another person's row that was unclear till now.
 *   2. A certain post that is left over, and certain for no row without a post: shown as a second post of the row that it is most like.
 *   3. A possible post that is left then holds up rows without a post: only those that it is most like, by text, author and the letters of
 *      common words. These rows are decided later while one of them is under way, and `uncertain` otherwise.
 *   4. No such post: decided later while there is a reason why the read may not have shown it.
 *   5. No such post otherwise: `uncertain` where the last answer named a post that cannot be the row's, sent again where it did not.
 *
 * A row is decided later for at most six hours. Then it is `uncertain`, with or without such a post.
 */

interface Words {
  board: string;
  title: string;
  /** Of a row as it was sent, with the line of its mark. */
  content: string;
}

export interface SentRow extends Words {
  id: number;
  /** Null for the owner of the token. */
  email: string | null;
  full_name: string | null;
  /** When the first attempt began that can have left a post. */
  sentAt: number;
  /** The highest number of a post that was known then. */
  known_max_id: number | null;
  /** Posts that a person turned down. */
  baseline: readonly number[];
  /** Its reference, where the board is known to keep one. */
  mark: string | null;
  /** It is being sent, or its attempt is too young to be looked for. The caller drops the verdicts on rows that are under way. */
  isUnderWay: boolean;
  /** The post that the last answer named, where it cannot be this row's. */
  named: number | null;
  /** Why the read may not have shown its post; null where it would have. */
  whyUnread: string | null;
  /** Since the last attempt began. */
  waitedMs: number;
}

export interface ShownPost extends Words {
  id: number;
  url: string;
  creator_id: number;
  email: string | null;
  name: string | null;
  is_team: 0 | 1;
  /** By its own date, on our clock; null where it has none. */
  createdAt: number | null;
  /** When the mirror first saw it; null where it has not. */
  firstSeenAt: number | null;
}

const TEXTS = ['marked', 'same', 'part', 'near', 'far'] as const;
export type Text = (typeof TEXTS)[number];
const AUTHORS = ['ours', 'shared', 'unknown', 'other'] as const;
export type Author = (typeof AUTHORS)[number];

/** `posts` hold the row up, the most alike first; of a confirmed row it is its own, and by rule 5 the one that the answer named. */
export type Verdict = { posts: number[] } & (
  | { kind: 'confirmed'; post: ShownPost; how: Text }
  | { kind: 'later'; why: string }
  | { kind: 'uncertain' | 'send again' }
);

interface Pair {
  row: SentRow;
  post: ShownPost;
  text: Text;
  /** By its text, and then by its author: 0 is the most alike. */
  rank: number;
  isCertain: boolean;
  /** Of the row: it does not matter which post is whose of rows with the same ones. */
  words: string;
  person: string;
  /** The letters of the words that are in both. */
  common: number;
}

/** Of `unclear` rows, those under way too, verdicts; of rows that have their post, `sent` or found, second posts. */
export function decide(
  unclear: readonly SentRow[],
  posts: readonly ShownPost[],
  people: People,
  sent: readonly SentRow[] = [],
) {
  const shown = posts.toSorted((a, b) => a.id - b.id).map(foldedOf);
  const rows = [...unclear, ...sent].sort((a, b) => a.id - b.id);
  const pairs = rows.flatMap((row) => pairsOf(row, shown, people)).sort(byLikeness);
  const certain = pairs.filter(({ isCertain }) => isCertain);
  const ofPost = Map.groupBy(certain, ({ post }) => post);
  const given = new Set<ShownPost>();
  // Rows that have their post are found, without a pair.
  const found = new Map<SentRow, Pair | null>(sent.map((row) => [row, null]));
  const isOpen = ({ row, post }: Pair): boolean => !given.has(post) && !found.has(row);
  for (const pair of certain) {
    const isRival = ({ row, rank, words, person }: Pair): boolean =>
      rank <= pair.rank && (words !== pair.words || (person !== pair.person && found.get(row) !== null));
    if (!isOpen(pair) || ofPost.get(pair.post)?.some(isRival)) continue;
    given.add(pair.post);
    found.set(pair.row, pair);
  }
  const seconds = new Map<number, number[]>();
  for (const { row, post } of certain) {
    if (given.has(post) || ofPost.get(post)?.some(isOpen)) continue;
    given.add(post);
    seconds.set(row.id, [...(seconds.get(row.id) ?? []), post.id]);
  }
  const left = pairs.filter(isOpen);
  const best = Map.groupBy(left, ({ post }) => post);
  const open = left.filter((pair) => byLikeness(pair, best.get(pair.post)?.[0] ?? pair) === 0);
  const verdicts = unclear.map((row): [number, Verdict] => [row.id, verdictOn(row, found.get(row), open)]);
  return { verdicts: new Map(verdicts), seconds };
}

const PATIENCE_MS = 6 * 3_600_000;
const WANTED = 'a post that could be this one may still prove to be another row’s';

function verdictOn(row: SentRow, found: Pair | null | undefined, open: readonly Pair[]): Verdict {
  if (found) return { kind: 'confirmed', posts: [found.post.id], post: found.post, how: found.text };
  const posts = open.filter((pair) => pair.row === row).map(({ post }) => post.id);
  const isWanted = open.some((pair) => pair.row.isUnderWay && posts.includes(pair.post.id));
  const why = posts.length === 0 ? row.whyUnread : isWanted ? WANTED : null;
  if (why !== null && row.waitedMs < PATIENCE_MS) return { kind: 'later', posts, why };
  if (posts.length === 0 && row.named !== null) posts.push(row.named);
  return { kind: posts.length === 0 && why === null ? 'send again' : 'uncertain', posts };
}

function byLikeness(a: Pair, b: Pair): number {
  return a.rank - b.rank || b.common - a.common;
}

/** Every post that is possible for the row. */
function pairsOf(row: SentRow, posts: readonly Folded<ShownPost>[], people: People): Pair[] {
  const [sent, person] = [foldedOf(row), mailbox(row.email ?? '')];
  return posts.flatMap((shown) => {
    const { of: post } = shown;
    const text = isNew(row, post) && !row.baseline.includes(post.id) ? textOf(sent, shown) : 'far';
    if (text === 'far') return [];
    const author = authorOf(row, post, people);
    const isCut = text === 'part' || text === 'near';
    if (isCut && author !== 'ours' && author !== 'unknown') return [];
    const isCertain = text === 'marked' || (author === 'ours' && text !== 'near') || author === 'shared';
    const rank = TEXTS.indexOf(text) * AUTHORS.length + AUTHORS.indexOf(author);
    const common =
      lettersInBoth(sent.titleWords, shown.titleWords) + lettersInBoth(sent.contentWords, shown.contentWords);
    return [{ row, post, text, rank, isCertain, words: sent.words, person, common }];
  });
}

export type Window = Pick<SentRow, 'sentAt' | 'known_max_id'>;

export function isNew(row: Window, { id, firstSeenAt, createdAt }: ShownPost): boolean {
  if (row.known_max_id !== null && id > row.known_max_id) return true;
  if (firstSeenAt !== null && firstSeenAt < row.sentAt) return false;
  return createdAt === null || createdAt >= earliestDate(row);
}

/** A date may be a day early: clocks are slow, times are local, some services tell the day only. Half an hour where numbers are known. */
export function earliestDate({ sentAt, known_max_id }: Window): number {
  return sentAt - (known_max_id === null ? 24 * 3_600_000 : 1_800_000);
}

export interface SentAuthor {
  /** The address that the row was sent as; null for the owner. */
  asked: string | null;
  shown: string | null;
  creator_id: number;
}

export type People = ReturnType<typeof learnPeople>;

/** What our own posts have shown. */
export function learnPeople(sent: readonly SentAuthor[]) {
  /** Whom an account has stood for. A person is a mailbox, and the owner of the token that of an empty address. */
  const holders = new Map<number, Set<string>>();
  for (const { asked, creator_id } of sent)
    holders.set(creator_id, (holders.get(creator_id) ?? new Set()).add(mailbox(asked ?? '')));
  const customers = sent.filter(({ asked }) => asked !== null);
  const replaced = customers.filter(({ asked, shown }) => mailbox(shown ?? '') !== mailbox(asked ?? ''));
  /** Accounts that are shown in place of a customer's. */
  const standIns = new Set(replaced.map(({ creator_id }) => creator_id));
  /** Whether customers are shown with the address that they were sent with: a service may hide, mask or replace it. */
  const areAddressesTrue = customers.length === 0 || replaced.length < customers.length;
  return { holders, standIns, areAddressesTrue };
}

/**
 * The first rule that fits. Our posts have shown this account for this person: `ours`. A customer's row, and the account has stood in for a
 * customer and for several of our people: `shared` where addresses are true, else `ours`. A customer's row, addresses are true, and the
 * post shows one: its own is `ours`, another `other`. Our posts have shown another account for this person, or another person for this
 * account: `other`. The owner's: `ours` where the author is of the team, else `unknown`. A customer's: by the name, `unknown` without one.
 */
export function authorOf({ email, full_name }: SentRow, post: ShownPost, people: People): Author {
  const person = mailbox(email ?? '');
  const holders = people.holders.get(post.creator_id) ?? new Set();
  if (holders.has(person)) return 'ours';
  if (email !== null && people.standIns.has(post.creator_id) && holders.size > 1)
    return people.areAddressesTrue ? 'shared' : 'ours';
  const shown = emailKey(post.email ?? '');
  if (email !== null && people.areAddressesTrue && /^[^*]+@[^*]+$/.test(shown))
    return mailbox(shown) === person ? 'ours' : 'other';
  if (holders.size > 0 || [...people.holders.values()].some((held) => held.has(person))) return 'other';
  if (email === null) return post.is_team ? 'ours' : 'unknown';
  const [is, asked] = [foldedText(post.name ?? ''), foldedText(full_name ?? '')];
  return is === '' || asked === '' ? 'unknown' : is === asked ? 'ours' : 'other';
}

/** A text that is a part of another has at least so many letters: fewer may be chance. */
const SHORTEST_PART = 20;
/** Letters, because small words are everywhere. With three quarters, a simulation sent one of 30,000 rows twice, for a cut title. */
const NEAR_SHARE = 1 / 2;

/**
 * `marked`: the content shows the row's reference. `same`: the letters and digits of title and content are equal, on the same board.
 * `part` is one of three: on the same board words are only left out (the last one may be cut), and the title is whole or 20 letters are
 * left of title and content; on the same board words are only added, to 20 letters or more; the letters and digits are equal on another
 * board. `near`: half of the letters of the shorter title are in words of both. `far`: nothing of that.
 */
export function textOf(sent: Folded<SentRow>, shown: Folded<ShownPost>): Text {
  const { mark } = sent.of;
  if (mark !== null) return marksIn(shown.of).includes(mark) ? 'marked' : 'far';
  const isSameBoard = boardSlug(sent.of.board) === boardSlug(shown.of.board);
  if (sent.title === shown.title && sent.content === shown.content) return isSameBoard ? 'same' : 'part';
  const isCut = isPart(shown, sent, shown.title === sent.title);
  if (isSameBoard && (isCut || isPart(sent, shown, false))) return 'part';
  const shorter = Math.min(...[sent, shown].map(({ titleWords: words }) => lettersInBoth(words, words)));
  const isAlike = shorter > 0 && lettersInBoth(sent.titleWords, shown.titleWords) >= NEAR_SHARE * shorter;
  return isAlike ? 'near' : 'far';
}

function isPart(part: Folded<unknown>, whole: Folded<unknown>, mayBeShort: boolean): boolean {
  if (!mayBeShort && part.title.length + part.content.length < SHORTEST_PART) return false;
  return isLeftOf(part.titleWords, whole.titleWords) && isLeftOf(part.contentWords, whole.contentWords);
}

/** Whether the words are those of the whole with some left out; the last one may be cut. */
function isLeftOf(words: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  return words.every((word, n) => {
    const isLast = n === words.length - 1;
    while (at < whole.length && whole[at] !== word && !(isLast && whole[at]?.startsWith(word))) at++;
    return at++ < whole.length;
  });
}

function lettersInBoth(sent: readonly string[], shown: readonly string[]): number {
  return [...new Set(shown)].filter((word) => sent.includes(word)).join('').length;
}

/** A text taken apart for comparing, once for many comparisons. */
export interface Folded<T> {
  of: T;
  words: string;
  /** Its letters and digits. */
  title: string;
  content: string;
  titleWords: string[];
  contentWords: string[];
}

export function foldedOf<T extends Words>(of: T): Folded<T> {
  const [titleWords, contentWords] = [wordsOf(of.title), wordsOf(of.content)];
  const [title, content] = [foldedText(of.title), foldedText(of.content)];
  return { of, words: contentHash(of), title, content, titleWords, contentWords };
}

/**
 * Equal for any two rows that one and the same post could be taken for, word for word. The person is left out of it: a service may
 * show any creator for a row of the token's owner, and may hide its customers' addresses.
 */
export function contentHash(of: Words): string {
  const parts = [boardSlug(of.board), normalizedText(of.title), normalizedText(of.content)];
  return hash('sha256', parts.map((part) => `${part.length}:${part}`).join(''), 'base64url');
}

/** Letters and digits in small form; without any, the text as it is. Signs, emoji and their shortcodes, marks of style and targets of links go. */
export function foldedText(text: string): string {
  const letters = plainText(text).replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
  return letters === '' ? normalizedText(text) : letters;
}

/** Scripts that put no spaces between words are compared by pairs of letters. A word that a service has masked (`d**n`) is none. */
function wordsOf(text: string): string[] {
  const unmasked = plainText(text).replace(/(?<!\p{L})\p{L}{1,2}\*+\p{L}{0,2}(?!\p{L})/gu, ' ');
  const words = unmasked.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const pairsIn = (word: string) => Array.from({ length: word.length - 1 }, (_, n) => word.slice(n, n + 2));
  return words.flatMap((word) => (isUnspaced(word) && word.length > 2 ? pairsIn(word) : [word]));
}

/** The references that a text shows, however a service has written the letters. */
export function marksIn({ content }: { content: string }): string[] {
  return content.toUpperCase().match(/\bFM-[0-9A-Z]{8}\b/g) ?? [];
}
