import { boardSlug } from '../../base/boards.ts';
import { emailKey, mailbox } from '../../base/email.ts';
import { normalizedText, withoutMarkup } from '../../base/markup.ts';

/**
 * Which post is this row's? An unclear row may have left a post, and the API has no key to ask for it by. So four facts of the row and of
 * each post are compared, and one table decides. Nothing here reads, writes or waits.
 *
 *   new     the post was not there before the row's first attempt: by number, by first sight, or by its own date
 *   free    no row is bound to the post, and no person has turned it down for this row
 *   author  `ours`, `other` or `unknown`: see `authorOf`
 *   text    `marked`, `same`, `cut`, `near` or `far`: see `textOf`
 *
 * A post is possible for a row if it is new and free, and its text is `same`, or is not `far` and the author is not `other`. Where the row
 * carries a mark that its board is known to keep, only a post with that mark is possible.
 *
 * Posts are given out in this order, to all unclear rows at once. A post that is given out holds up no other row.
 *
 *   1. marked                                  confirmed
 *   2. same, author ours                       confirmed; the earliest post for the earliest row. Word for word comes first. A post that is
 *                                              the same only once it is folded is given if all rows it is the same for say one thing
 *   3. cut, author ours, one post for the row and one row for the post: confirmed
 *   -  same, author ours, of a row that is sent already, and neither same nor cut for an unclear row: shown as that row's second post
 *   4. any other possible post                 wait while a row that it is possible for is on its way, six hours at most; then `uncertain`
 *   5. none, the read was whole, and fewer than 4 unclear attempts, or a post sent later in the same way is listed: sent again
 *   6. none otherwise                          looked for again, six hours at most; then `uncertain`
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
  /** On its way, or not settled: what it comes to is not known yet. */
  isUnderWay: boolean;
  /** Whether the read would have shown its post. */
  isReadWhole: boolean;
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
  /** The row that is bound to it. */
  row: number | null;
}

export type Author = 'ours' | 'other' | 'unknown';
export type Text = 'marked' | 'same' | 'cut' | 'near' | 'far';
export type Verdict =
  | { kind: 'confirmed'; post: ShownPost; how: Text }
  /** The possible posts, the most alike first. */
  | { kind: 'wait' | 'uncertain'; posts: ShownPost[] }
  | { kind: 'send again' }
  | { kind: 'look again' };

export interface Decision {
  verdicts: Map<number, Verdict>;
  /** Second posts by their row: the row has its post, or needs none. */
  seconds: Map<number, ShownPost[]>;
}

export const MOST_UNCLEAR = 4;
export const PATIENCE_MS = 6 * 3_600_000;
/** A post may be dated so much before the attempt that made it: clocks are slow, times local, and some services tell the day only. */
const DATE_TOLERANCE_MS = 24 * 3_600_000;
/** The same where its number says too that it was there before. */
const NUMBERED_TOLERANCE_MS = 1_800_000;
/** A cut title has at least so many letters: fewer may be chance. */
const SHORTEST_CUT = 20;
/** So much of the shorter title, in letters, is in both: measured by `npm run import:chaos`. Letters, because small words are everywhere. */
const NEAR_SHARE = 1 / 2;

interface Pair {
  row: SentRow;
  post: ShownPost;
  text: Text;
  author: Author;
  isWordForWord: boolean;
  /** How much of the titles is in common. */
  share: number;
}

/** A row that is sent. While it is checked after an unclear attempt, a cut or marked post also counts as its second one. */
export type SettledRow = SentRow & { isChecked: boolean };

/** `sent`: rows that are sent and whose words, or those of their own post, a post of the window has. */
export function decide(
  rows: readonly SentRow[],
  posts: readonly ShownPost[],
  people: People,
  sent: readonly SettledRow[] = [],
): Decision {
  const pairs = pairsOf(rows, posts, people);
  const ofSent = [
    ...pairsOf(sent, posts, people).filter(isSurelyOurs),
    ...pairsOf(
      sent.filter(({ isChecked }) => isChecked),
      posts,
      people,
    ).filter(({ text, author }) => text === 'marked' || (text === 'cut' && author === 'ours')),
  ];
  const given = new Map<ShownPost, SentRow>();
  const found = new Map<SentRow, Pair>();
  const give = (pair: Pair): void => {
    if (given.has(pair.post) || found.has(pair.row)) return;
    given.set(pair.post, pair.row);
    found.set(pair.row, pair);
  };
  const isOpen = ({ row, post }: Pair): boolean => !given.has(post) && !found.has(row);
  inOrder(pairs.filter(({ text }) => text === 'marked')).forEach(give);
  const same = inOrder(pairs.filter(isSurelyOurs));
  same.filter(({ isWordForWord }) => isWordForWord).forEach(give);
  const claims = Map.groupBy([...same, ...ofSent], ({ post }) => post);
  same.filter(({ post }) => sayOneThing(claims.get(post) ?? [])).forEach(give);
  const cuts = pairs.filter(({ text, author }) => text === 'cut' && author === 'ours').filter(isOpen);
  const isOnlyOne = ({ row, post }: Pair): boolean =>
    !claims.has(post) && cuts.filter((other) => other.row === row || other.post === post).length === 1;
  cuts.filter(isOnlyOne).forEach(give);
  const seconds = secondsOf([...ofSent, ...same.filter(({ row }) => found.has(row))], given, (post) =>
    pairs.some((pair) => pair.post === post && pair.text !== 'near' && isOpen(pair)),
  );
  for (const second of [...seconds.values()].flat()) given.set(second.post, second.row);
  const open = pairs.filter(isOpen);
  const verdicts = rows.map((row): [number, Verdict] => [row.id, verdictOn(row, found.get(row), open)]);
  const posted = [...seconds].map(([id, list]): [number, ShownPost[]] => [id, list.map(({ post }) => post)]);
  return { verdicts: new Map(verdicts), seconds: new Map(posted) };
}

function verdictOn(row: SentRow, found: Pair | undefined, open: readonly Pair[]): Verdict {
  if (found) return { kind: 'confirmed', post: found.post, how: found.text };
  const own = open.filter((pair) => pair.row === row).sort(byLikeness);
  const isPatient = row.waitedMs < PATIENCE_MS;
  if (own.length > 0) {
    const posts = own.map(({ post }) => post);
    const isWanted = open.some(
      (pair) => pair.row !== row && pair.row.isUnderWay && posts.includes(pair.post),
    );
    return { kind: isWanted && isPatient ? 'wait' : 'uncertain', posts };
  }
  if (row.isReadWhole && (row.unclearAttempts < MOST_UNCLEAR || row.isLaterListed))
    return { kind: 'send again' };
  return isPatient ? { kind: 'look again' } : { kind: 'uncertain', posts: [] };
}

function isSurelyOurs({ text, author }: Pair): boolean {
  return text === 'same' && author === 'ours';
}

function sayOneThing(pairs: readonly Pair[]): boolean {
  return new Set(pairs.map(({ row }) => wordsKey(row))).size === 1;
}

/** Each post once, for the earliest row, unless it may still be an unclear row's. */
function secondsOf(
  pairs: readonly Pair[],
  given: ReadonlyMap<ShownPost, SentRow>,
  isWanted: (post: ShownPost) => boolean,
): Map<number, Pair[]> {
  const firsts = new Map<ShownPost, Pair>();
  for (const pair of inOrder(pairs))
    if (!given.has(pair.post) && !firsts.has(pair.post) && !isWanted(pair.post)) firsts.set(pair.post, pair);
  return Map.groupBy(firsts.values(), ({ row }) => row.id);
}

function inOrder(pairs: readonly Pair[]): Pair[] {
  return pairs.toSorted((a, b) => a.row.id - b.row.id || a.post.id - b.post.id);
}

const TEXTS: readonly Text[] = ['marked', 'same', 'cut', 'near', 'far'];
const AUTHORS: readonly Author[] = ['ours', 'unknown', 'other'];

function byLikeness(a: Pair, b: Pair): number {
  return (
    TEXTS.indexOf(a.text) - TEXTS.indexOf(b.text) ||
    AUTHORS.indexOf(a.author) - AUTHORS.indexOf(b.author) ||
    b.share - a.share ||
    a.post.id - b.post.id
  );
}

/** Every possible post of every row. Only posts that share a word, or the beginning, with the title of a row are looked at closely. */
function pairsOf(rows: readonly SentRow[], posts: readonly ShownPost[], people: People): Pair[] {
  const index = new Map<string, Folded<ShownPost>[]>();
  for (const post of posts) {
    if (post.row !== null) continue;
    const folded = foldedOf(post);
    for (const key of [...folded.keys, ...marksIn(post)]) index.set(key, [...(index.get(key) ?? []), folded]);
  }
  return rows.flatMap((row) => {
    const folded = foldedOf(row);
    const keys = row.mark === null ? folded.keys : [row.mark];
    const met = new Set([...keys].flatMap((key) => index.get(key) ?? []));
    return [...met].flatMap((post) => pairOf(folded, post, people) ?? []);
  });
}

function pairOf(sent: Folded<SentRow>, shown: Folded<ShownPost>, people: People): Pair | null {
  const [row, post] = [sent.of, shown.of];
  if (!isNew(row, post) || row.dismissed.includes(post.id)) return null;
  const share = shareOf(sent.words, shown.words);
  const text = textOf(sent, shown, share);
  const author = authorOf(row, post, people);
  const isPossible =
    row.mark !== null ? text === 'marked' : text === 'same' || (text !== 'far' && author !== 'other');
  return isPossible
    ? { row, post, text, author, share, isWordForWord: wordsKey(row) === wordsKey(post) }
    : null;
}

export function isNew(
  row: Pick<SentRow, 'sentAt' | 'knownMaxId' | 'isListKnown'>,
  { id, firstSeenAt, createdAt }: ShownPost,
): boolean {
  if (row.knownMaxId !== null && id > row.knownMaxId) return true;
  if (firstSeenAt !== null && firstSeenAt < row.sentAt) return false;
  const tolerance = row.knownMaxId === null ? DATE_TOLERANCE_MS : NUMBERED_TOLERANCE_MS;
  return row.isListKnown || createdAt === null || createdAt + tolerance >= row.sentAt;
}

/** What our posts have shown of the people in whose names we send. */
export interface People {
  /** Accounts on the posts of a person, by mailbox; the owner of the token is the empty text. */
  accounts: ReadonlyMap<string, ReadonlySet<number>>;
  /** Addresses that stand on several accounts: they name no person. */
  shared: ReadonlySet<string>;
  /** The account on the posts of all customers, where a service shows them as one. */
  ofAllCustomers: number | null;
}

export interface SentAuthor {
  /** The address that the row was sent as; null for the owner. */
  asked: string | null;
  shown: string | null;
  creator_id: number;
}

const OWNER = '';

export function learnPeople(sent: readonly SentAuthor[]): People {
  const personOf = ({ asked }: SentAuthor): string => (asked === null ? OWNER : mailbox(asked));
  const accountsIn = (posts: readonly SentAuthor[]): Set<number> =>
    new Set(posts.map(({ creator_id }) => creator_id));
  const accounts = [...Map.groupBy(sent, personOf)].map(([who, posts]) => [who, accountsIn(posts)] as const);
  const customers = accounts.filter(([who]) => who !== OWNER);
  const [first, ...others] = new Set(customers.flatMap(([, own]) => [...own]));
  const byAddress = Map.groupBy(sent, ({ shown }) => emailKey(shown ?? ''));
  return {
    accounts: new Map(accounts),
    shared: new Set(
      [...byAddress].flatMap(([address, posts]) => (accountsIn(posts).size > 1 ? [address] : [])),
    ),
    ofAllCustomers: first !== undefined && others.length === 0 && customers.length > 1 ? first : null,
  };
}

/**
 * By the account that our posts have shown for this person; else by the address; where none is shown, by whether the account is known of
 * this person or of another; else by the name. Before any post has shown the owner, somebody of the team is taken for the owner.
 */
export function authorOf(row: SentRow, { creator }: ShownPost, people: People): Author {
  if (creator === null) return 'unknown';
  const person = row.email === null ? OWNER : mailbox(row.email);
  const own = people.accounts.get(person);
  if (own?.has(creator.id) || (person !== OWNER && creator.id === people.ofAllCustomers)) return 'ours';
  const shown = emailKey(creator.email ?? '');
  const isShown = shown.includes('@') && !shown.includes('*') && !people.shared.has(shown);
  if (isShown && person !== OWNER) return mailbox(shown) === person ? 'ours' : 'other';
  if (own || [...people.accounts.values()].some((accounts) => accounts.has(creator.id))) return 'other';
  if (person === OWNER) return creator.isTeam ? 'ours' : 'unknown';
  const [name, asked] = [foldedText(creator.name ?? ''), foldedText(row.name ?? '')];
  return name === '' || asked === '' ? 'unknown' : name === asked ? 'ours' : 'other';
}

/**
 * `marked`: the content shows the row's reference. `same`: the letters and digits of title and content are equal, on the same board.
 * `cut`: those shown are the beginning of those sent, of the title at least 20 or all; or they are the same on another board.
 * `near`: half of the letters of the shorter title are in words of both, or the title shown is the beginning of the one sent.
 */
export function textOf(
  sent: Folded<SentRow>,
  shown: Folded<ShownPost>,
  share = shareOf(sent.words, shown.words),
): Text {
  const { mark, board } = sent.of;
  if (mark !== null) return marksIn(shown.of).includes(mark) ? 'marked' : 'far';
  const isSameBoard = boardSlug(board) === boardSlug(shown.of.board);
  if (sent.title === shown.title && sent.content === shown.content) return isSameBoard ? 'same' : 'cut';
  const isBeginning = shown.title !== '' && sent.title.startsWith(shown.title);
  const isCut = isBeginning && (shown.title === sent.title || shown.title.length >= SHORTEST_CUT);
  if (isCut && isSameBoard && sent.content.startsWith(shown.content)) return 'cut';
  return isBeginning || share >= NEAR_SHARE ? 'near' : 'far';
}

/** A text taken apart for comparing, once for many comparisons. */
export interface Folded<T> {
  of: T;
  title: string;
  content: string;
  /** Of the title. */
  words: ReadonlySet<string>;
  /** What the title of a post and that of a row have in common unless they are far. */
  keys: ReadonlySet<string>;
}

/** As much as tells one text from another. */
const LONGEST = 20_000;
const BEGINNING = 8;

export function foldedOf<T extends { title: string; content: string }>(of: T): Folded<T> {
  const [title, content] = [foldedText(of.title), foldedText(of.content)];
  const words = new Set(wordsOf(of.title));
  return { of, title, content, words, keys: new Set([...words, `^${title.slice(0, BEGINNING)}`]) };
}

/** Letters and digits in small form; without any, the text as it is. Signs, emoji and their shortcodes, marks of style and targets of links go. */
export function foldedText(text: string): string {
  const letters = plainOf(text).replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
  return letters === '' ? normalizedText(text) : letters;
}

function plainOf(text: string): string {
  return withoutMarkup(text.slice(0, LONGEST))
    .replace(/!?\[([^\]]*)\]\([^)]*(?:\)|$)/g, '$1 ')
    .replace(/:[a-z][a-z0-9_+-]*:/g, ' ')
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFC')
    .replace(/[\p{Me}\p{Cf}\p{Variation_Selector}]/gu, '');
}

/** Scripts that put no spaces between words are compared by pairs of letters. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

function wordsOf(title: string): string[] {
  const words = plainOf(title).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return words.flatMap((word) => {
    if (!UNSPACED.test(word) || word.length < 3) return [word];
    return Array.from({ length: word.length - 1 }, (_, n) => word.slice(n, n + 2));
  });
}

function shareOf(sent: ReadonlySet<string>, shown: ReadonlySet<string>): number {
  const lettersOf = (words: Iterable<string>): number => [...words].join('').length;
  const shorter = Math.min(lettersOf(sent), lettersOf(shown));
  return shorter === 0 ? 0 : lettersOf([...sent].filter((word) => shown.has(word))) / shorter;
}

/** Equal for texts that say the same word for word on the same board. */
function wordsKey({ board, title, content }: { board: string; title: string; content: string }): string {
  return JSON.stringify([boardSlug(board), normalizedText(title), normalizedText(content)]);
}

/** The references that a text shows, however a service has written the letters. */
export function marksIn({ content }: { content: string }): string[] {
  return content.toUpperCase().match(/\bFM-[0-9A-Z]{8}\b/g) ?? [];
}
