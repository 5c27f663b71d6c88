import { boardSlug } from '../../text/boards.ts';
import { emailKey, mailbox } from '../../text/email.ts';
import { normalizedText, plainText } from '../../text/markup.ts';
import { isUnspaced } from '../../text/words.ts';

/**
 * Which post is this row's? An unclear row may have left a post, and the API has no key to ask for it by. So four facts of the row and of
 * each post are compared, and one table decides. Nothing here reads, writes or waits.
 *
 *   new     the post was not there before the row's first attempt: see `isNew`
 *   free    no row is bound to the post (the caller leaves those out), and no person has turned it down for this row
 *   author  `ours`, `shared`, `other` or `unknown`: see `authorOf`
 *   text    `marked`, `exact`, `same`, `part`, `near` or `far`, the most alike first: see `textOf`
 *
 * A post is possible for a row if it is new and free, and either its text is `marked`, `exact` or `same`, or its text is not `far` and its
 * author is `ours` or `unknown`. Where the row carries a mark that its board is known to keep, only a post with that mark is possible.
 *
 * All unclear rows are decided together:
 *
 *   1. A post is certain for a row if it is `marked`, or `exact`, `same` or `part` by our author. Certain posts are given out in this order of
 *      texts, the earliest post to the earliest row, and confirm the row. A post is given to no row while it is as certain, or more, for a
 *      row with other words; rows that have their post count. A `shared` author makes `exact` and `same` certain too, unless the author is
 *      `ours` for another of these rows.
 *   2. A certain post that is left over, and certain for no row without a post: shown as a second post of the row that it is most like;
 *      among equals, of the one that has the fewest.
 *   3. Any other possible post holds up only the rows that it is most like: by text, and then by the letters of common words. They are
 *      decided later while another of these rows is under way, six hours at most. Otherwise they are `uncertain`.
 *   4. No such post, and the read was not whole: decided later, six hours at most, and `uncertain` then.
 *   5. No such post, and the last answer named a post that cannot be the row's: `uncertain`.
 *   6. No such post, and fewer than 4 unclear attempts or a post sent later in the same way is listed: sent again.
 *   7. No such post otherwise: decided later, six hours at most, and `uncertain` then.
 */
export interface SentRow {
  id: number;
  board: string;
  title: string;
  /** As it was sent, with the line of its mark. */
  content: string;
  /** Null for the owner of the token. */
  email: string | null;
  name: string | null;
  /** When the first attempt began that can have left a post. */
  sentAt: number;
  /** The highest number of a post that was known then. */
  knownMaxId: number | null;
  /** Whether the whole list had been read before that. */
  isListKnown: boolean;
  /** Posts that a person turned down. */
  dismissed: readonly number[];
  /** Its reference, where the board is known to keep one. */
  mark: string | null;
  /** It is being sent, or its attempt is too young to be looked for. The caller drops the verdicts on rows that are under way. */
  isUnderWay: boolean;
  /** The post that the last answer named, where it cannot be this row's. */
  named: number | null;
  /** Why the read may not have shown its post; null where it would have. */
  whyUnread: string | null;
  unclearAttempts: number;
  /** Whether the read shows a post that was sent later, to the same board and in the same way. */
  isLaterListed: boolean;
  /** Since the last attempt began. */
  waitedMs: number;
}

export interface ShownPost {
  id: number;
  title: string;
  content: string;
  url: string;
  board: string;
  /** Null where it could not be read. */
  creator: { id: number; email: string | null; name: string | null; isTeam: boolean } | null;
  /** By its own date, on our clock; null where it has none. */
  createdAt: number | null;
  /** When the mirror first saw it; null where it has not. */
  firstSeenAt: number | null;
}

const TEXTS = ['marked', 'exact', 'same', 'part', 'near', 'far'] as const;
export type Text = (typeof TEXTS)[number];
export type Author = 'ours' | 'shared' | 'other' | 'unknown';
export type Verdict =
  | { kind: 'confirmed'; post: ShownPost; how: Text }
  /** The posts that hold it up, the most alike first. */
  | { kind: 'later'; posts: number[]; why: string }
  | { kind: 'uncertain'; posts: number[] }
  | { kind: 'send again' };

export interface Decision {
  verdicts: Map<number, Verdict>;
  /** Second posts by the row that has its post. */
  seconds: Map<number, number[]>;
}

const MOST_UNCLEAR = 4;
const PATIENCE_MS = 6 * 3_600_000;

interface Pair {
  row: SentRow;
  post: ShownPost;
  text: Text;
  author: Author;
  /** The words of the row: equal for rows that say the same. */
  words: string;
  /** The letters of the words that are in both. */
  common: number;
}

/** `unclear`: all rows without a post, those under way too. `sent`: rows that have their post, of which others may be second posts. */
export function decide(
  unclear: readonly SentRow[],
  posts: readonly ShownPost[],
  people: People,
  sent: readonly SentRow[] = [],
): Decision {
  const pairs = pairsOf([...unclear, ...sent], posts, people).sort(byRow);
  const ofPost = Map.groupBy(pairs.filter(isCertain), ({ post }) => post);
  const given = new Set<ShownPost>();
  // Rows that have their post are found, without a pair.
  const found = new Map<SentRow, Pair | null>(sent.map((row) => [row, null]));
  const isOpen = ({ row, post }: Pair): boolean => !given.has(post) && !found.has(row);
  for (const text of TEXTS)
    for (const pair of pairs.filter((each) => each.text === text && isCertain(each))) {
      const rivals = (ofPost.get(pair.post) ?? []).filter((other) => rankOf(other) <= rankOf(pair));
      const isRival = ({ words, author }: Pair): boolean =>
        words !== pair.words || (pair.author === 'shared' && author === 'ours');
      if (!isOpen(pair) || rivals.some(isRival)) continue;
      given.add(pair.post);
      found.set(pair.row, pair);
    }
  const seconds = new Map<number, number[]>();
  const secondsOf = ({ row }: Pair): number[] => seconds.get(row.id) ?? [];
  for (const [post, all] of ofPost) {
    if (given.has(post) || all.some(isOpen)) continue;
    given.add(post);
    const [first] = all.sort(
      (a, b) => rankOf(a) - rankOf(b) || b.common - a.common || secondsOf(a).length - secondsOf(b).length,
    );
    if (first) seconds.set(first.row.id, [...secondsOf(first), post.id]);
  }
  const left = pairs.filter(isOpen).sort(byLikeness);
  const byPost = Map.groupBy(left, ({ post }) => post);
  const open = left.filter((pair) => isAsLike(pair, byPost.get(pair.post)?.[0]));
  const verdicts = unclear.map((row): [number, Verdict] => [row.id, verdictOn(row, found.get(row), open)]);
  return { verdicts: new Map(verdicts), seconds };
}

function verdictOn(row: SentRow, found: Pair | null | undefined, open: readonly Pair[]): Verdict {
  if (found) return { kind: 'confirmed', post: found.post, how: found.text };
  const posts = open.filter((pair) => pair.row === row).map(({ post }) => post.id);
  const uncertain = (): Verdict => ({
    kind: 'uncertain',
    posts: posts.length === 0 && row.named !== null ? [row.named] : posts,
  });
  const later = (why: string): Verdict =>
    row.waitedMs < PATIENCE_MS ? { kind: 'later', posts, why } : uncertain();
  if (posts.length > 0) {
    const others = open.filter((pair) => pair.row !== row && posts.includes(pair.post.id));
    return others.some((pair) => pair.row.isUnderWay) ? later(WANTED) : uncertain();
  }
  if (row.whyUnread !== null) return later(row.whyUnread);
  if (row.named !== null) return uncertain();
  if (row.unclearAttempts < MOST_UNCLEAR || row.isLaterListed) return { kind: 'send again' };
  return later(NONE_LATER);
}

const WANTED = 'a post that could be this one may still prove to be another row’s';
const NONE_LATER = 'the list shows no post that was sent later to the same board';

function isCertain({ text, author }: Pair): boolean {
  return isWhole(text)
    ? author === 'ours' || author === 'shared' || text === 'marked'
    : text === 'part' && author === 'ours';
}

function isWhole(text: Text): boolean {
  return text === 'marked' || text === 'exact' || text === 'same';
}

function rankOf({ text }: Pair): number {
  return TEXTS.indexOf(text);
}

function byRow(a: Pair, b: Pair): number {
  return a.row.id - b.row.id || a.post.id - b.post.id;
}

function byLikeness(a: Pair, b: Pair): number {
  return rankOf(a) - rankOf(b) || b.common - a.common || byRow(a, b);
}

function isAsLike({ text, common }: Pair, other: Pair | undefined): boolean {
  return text === other?.text && common === other.common;
}

/** Every possible post of every row. Only posts that share a key with a row are compared with it. */
function pairsOf(rows: readonly SentRow[], posts: readonly ShownPost[], people: People): Pair[] {
  const index = new Map<string, Folded<ShownPost>[]>();
  for (const post of posts) {
    const folded = foldedOf(post);
    for (const key of new Set([...folded.keys, ...marksIn(post)])) {
      const others = index.get(key);
      if (others) others.push(folded);
      else index.set(key, [folded]);
    }
  }
  return rows.flatMap((row) => {
    const sent = foldedOf(row);
    const keys = row.mark === null ? sent.keys : [row.mark];
    const met = new Set(keys.flatMap((key) => index.get(key) ?? []));
    return [...met].flatMap((shown) => pairOf(sent, shown, people) ?? []);
  });
}

function pairOf(sent: Folded<SentRow>, shown: Folded<ShownPost>, people: People): Pair | null {
  const [row, post] = [sent.of, shown.of];
  if (!isNew(row, post) || row.dismissed.includes(post.id)) return null;
  const [text, author] = [textOf(sent, shown), authorOf(row, post, people)];
  const isPossible = isWhole(text) || (text !== 'far' && (author === 'ours' || author === 'unknown'));
  if (!isPossible) return null;
  const all = ({ titleWords, contentWords }: Words): string[] => [...titleWords, ...contentWords];
  return { row, post, text, author, words: sent.words, common: commonOf(all(sent), all(shown)) };
}

/** Clocks are slow, times are local, and some services tell the day only. Half an hour is enough where an old number says the same. */
const TOLERANCE_MS = { date: 24 * 3_600_000, dateAndNumber: 1_800_000 };

/** By its number; else by when the mirror first saw it; else it is new where the whole list was known; else by its date. */
export function isNew(
  row: Pick<SentRow, 'sentAt' | 'knownMaxId' | 'isListKnown'>,
  { id, firstSeenAt, createdAt }: ShownPost,
): boolean {
  if (row.knownMaxId !== null && id > row.knownMaxId) return true;
  if (firstSeenAt !== null && firstSeenAt < row.sentAt) return false;
  const tolerance = row.knownMaxId === null ? TOLERANCE_MS.date : TOLERANCE_MS.dateAndNumber;
  return row.isListKnown || createdAt === null || createdAt + tolerance >= row.sentAt;
}

/** What our own posts have shown. */
export interface People {
  /** Whom an account has stood for; a person is a mailbox, and the owner of the token the empty text. */
  holders: ReadonlyMap<number, ReadonlySet<string>>;
  /** Accounts that were shown for more than one person. */
  shared: ReadonlySet<number>;
  /** Everybody who has posted. */
  known: ReadonlySet<string>;
  /** Whether customers are shown with the address that they were sent with: a service may hide, mask or replace it. */
  areAddressesTrue: boolean;
}

export interface SentAuthor {
  /** The address that the row was sent as; null for the owner. */
  asked: string | null;
  shown: string | null;
  creator_id: number;
}

const OWNER = '';

export function learnPeople(sent: readonly SentAuthor[]): People {
  const posts = sent.map((post) => ({ ...post, person: post.asked === null ? OWNER : mailbox(post.asked) }));
  const byAccount = Map.groupBy(posts, ({ creator_id }) => creator_id);
  const personsOf = (of: typeof posts): Set<string> => new Set(of.map(({ person }) => person));
  const holders = new Map([...byAccount].map(([account, of]) => [account, personsOf(of)]));
  const isStandIn = ({ person, shown }: (typeof posts)[number]): boolean =>
    person !== OWNER && mailbox(shown ?? '') !== person;
  const shared = [...byAccount].filter(([, of]) => personsOf(of).size > 1 && of.some(isStandIn));
  const customers = posts.filter(({ person }) => person !== OWNER);
  const areAddressesTrue =
    customers.length === 0 || customers.some(({ person, shown }) => mailbox(shown ?? '') === person);
  return {
    holders,
    shared: new Set(shared.map(([account]) => account)),
    known: personsOf(posts),
    areAddressesTrue,
  };
}

/**
 * The first of these that tells: the account, where our posts have shown it for this person; an account that has stood for several of our
 * people, which may stand for any customer (`shared` where addresses are true, else `ours`); the address, where addresses are true; an
 * account that is not this person's, where this person or the account is known by another post of ours (`other`); for the owner, whether
 * the author is of the team; for a customer, the name.
 */
export function authorOf(
  { email, name }: Pick<SentRow, 'email' | 'name'>,
  post: ShownPost,
  people: People,
): Author {
  const { creator } = post;
  if (creator === null) return 'unknown';
  const person = email === null ? OWNER : mailbox(email);
  const holders = people.holders.get(creator.id) ?? new Set();
  if (holders.has(person)) return 'ours';
  if (person !== OWNER && people.shared.has(creator.id)) return people.areAddressesTrue ? 'shared' : 'ours';
  const shown = emailKey(creator.email ?? '');
  if (person !== OWNER && people.areAddressesTrue && /^[^*]+@[^*]+$/.test(shown))
    return mailbox(shown) === person ? 'ours' : 'other';
  if (holders.size > 0 || people.known.has(person)) return 'other';
  if (person === OWNER) return creator.isTeam ? 'ours' : 'unknown';
  const [is, asked] = [foldedText(creator.name ?? ''), foldedText(name ?? '')];
  return is === '' || asked === '' ? 'unknown' : is === asked ? 'ours' : 'other';
}

/** A text that is a part of another has at least so many letters: fewer may be chance. */
const SHORTEST_PART = 20;
/** So much of the shorter title, in letters, is in both: measured by `npm run import:chaos`. Letters, because small words are everywhere. */
const NEAR_SHARE = 1 / 2;

/**
 * `marked`: the content shows the row's reference. `exact`: title and content are equal but for markup and spaces, on the same board.
 * `same`: their letters and digits are equal, on the same board. `part` is one of three: on the same board words are only left out, and the
 * title is whole or 20 letters are left; on the same board words are only added, to 20 letters or more; the letters and digits are equal on
 * another board. `near`: half of the letters of the shorter title are in words of both. `far`: nothing of that, or neither a word of the
 * titles nor the first letters of title or content are in both.
 */
export function textOf(sent: Folded<SentRow>, shown: Folded<ShownPost>): Text {
  const { mark, board } = sent.of;
  if (mark !== null) return marksIn(shown.of).includes(mark) ? 'marked' : 'far';
  const isSameBoard = boardSlug(board) === boardSlug(shown.of.board);
  if (sent.words === shown.words) return 'exact';
  if (sent.title === shown.title && sent.content === shown.content) return isSameBoard ? 'same' : 'part';
  const isCut = isPart(shown, sent) && (isLong(shown) || shown.title === sent.title);
  const isExtended = isPart(sent, shown) && isLong(sent);
  if (isSameBoard && (isCut || isExtended)) return 'part';
  const shorter = Math.min(lettersIn(sent.titleWords), lettersIn(shown.titleWords));
  const isAlike = shorter > 0 && commonOf(sent.titleWords, shown.titleWords) >= NEAR_SHARE * shorter;
  return isAlike ? 'near' : 'far';
}

type Words = Pick<Folded<unknown>, 'titleWords' | 'contentWords'>;

function isLong({ titleWords, contentWords }: Words): boolean {
  return lettersIn(titleWords) + lettersIn(contentWords) >= SHORTEST_PART;
}

function isPart(part: Words, whole: Words): boolean {
  return (['titleWords', 'contentWords'] as const).every((which) => isLeftOf(part[which], whole[which]));
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

function lettersIn(words: Iterable<string>): number {
  return [...words].reduce((sum, { length }) => sum + length, 0);
}

function commonOf(sent: readonly string[], shown: readonly string[]): number {
  const known = new Set(sent);
  return lettersIn(new Set(shown.filter((word) => known.has(word))));
}

/** A text taken apart for comparing, once for many comparisons. */
export interface Folded<T> {
  of: T;
  /** Board, title and content without markup and spaces. */
  words: string;
  /** Its letters and digits. */
  title: string;
  content: string;
  titleWords: string[];
  contentWords: string[];
  /** Words of the title, and the beginnings of title and content. Texts without a key in common are `far`. */
  keys: string[];
}

const BEGINNING = 8;

export function foldedOf<T extends { board: string; title: string; content: string }>(of: T): Folded<T> {
  const [title, content] = [foldedText(of.title), foldedText(of.content)];
  const [titleWords, contentWords] = [wordsOf(of.title), wordsOf(of.content)];
  const words = [boardSlug(of.board), normalizedText(of.title), normalizedText(of.content)].join('\0');
  const beginnings = [
    `^${title.slice(0, BEGINNING)}`,
    ...(content === '' ? [] : [`>${content.slice(0, BEGINNING)}`]),
  ];
  const keys = [...titleWords, ...beginnings];
  return { of, words, title, content, titleWords, contentWords, keys };
}

/** Letters and digits in small form; without any, the text as it is. Signs, emoji and their shortcodes, marks of style and targets of links go. */
export function foldedText(text: string): string {
  const letters = plainText(text).replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
  return letters === '' ? normalizedText(text) : letters;
}

/** Scripts that put no spaces between words are compared by pairs of letters. A word that a service has masked (`d**n`) is none. */
function wordsOf(text: string): string[] {
  const words =
    plainText(text)
      .replace(/(?<!\p{L})\p{L}{1,2}\*+\p{L}{0,2}(?!\p{L})/gu, ' ')
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return words.flatMap((word) => {
    if (!isUnspaced(word) || word.length < 3) return [word];
    return Array.from({ length: word.length - 1 }, (_, n) => word.slice(n, n + 2));
  });
}

/** The references that a text shows, however a service has written the letters. */
export function marksIn({ content }: { content: string }): string[] {
  return content.toUpperCase().match(/\bFM-[0-9A-Z]{8}\b/g) ?? [];
}
