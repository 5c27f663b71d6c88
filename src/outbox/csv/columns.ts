import { AppError } from '../../base/errors.ts';
import { foldedName, nearest } from '../../base/text.ts';
import { LAYOUTS, type Layout } from './layouts.ts';
import {
  ASKER,
  type Column,
  columnOf,
  holdsAddresses,
  holdsNames,
  holdsNumbers,
  holdsPeople,
  holdsProse,
  isContactDetail,
  isInternal,
  isNotes,
  isPersonal,
  isTitleOfPeople,
  MAIL,
  oneOf,
  POST,
} from './people.ts';
import { dataColumns, FIELDS, type Field, type MappedColumn, type ReadOptions } from './rows.ts';

type Wishes = Pick<ReadOptions, 'map' | 'board'>;

export interface Columns {
  layout: Layout | null;
  mapping: MappedColumn[];
  ignored: string[];
  /** What a person has to say before the file can be read; the first is the most important. */
  unclear: UnclearField[];
}

/** A field that no column, or more than one, could be. */
export interface UnclearField {
  field: Field;
  problem: string;
  hint: string;
  /** Columns that it could be, the likeliest first; names of people are never among those of a public field. */
  proposals: string[];
}

/** An e-mail column must be settled before a name column can be read as that person's name. */
const ORDER: readonly Field[] = ['title', 'content', 'email', 'full_name', 'board', 'key'];
const RANKS = ['exact', 'likely', 'possible'] as const;
type Rank = (typeof RANKS)[number];

/** "de l'auteur" begins like "del autor": one way to read each text keeps a long header from taking long. */
const OF_THE = '(of|de|del|des|der|da|do|du)(the|la|el)?';
/** Also as part of a longer header: "Post Body", "Titel der Idee". */
const aboutPosts = (words: string): string => `${POST}?(${words})(${OF_THE}${POST}(e?s)?)?`;
const AROUND_MAIL = `(electronic[oa]|eletronico|electronique|address|adresse|direccion|endereco|your|${OF_THE}|${ASKER})`;

const NONE = /^(?!)/;

/**
 * What other tools and languages call these columns, as `foldedName` spells it. A `likely` name is used when the file has no column by
 * the field's own name; a `possible` one only when nothing better claims the field. `name` is never a title: it may be a person's. Nor
 * are notes a text by a guess: they may be internal.
 */
const ALIASES: Readonly<Record<Field, { likely: RegExp; possible: RegExp }>> = {
  title: {
    likely:
      oneOf(`${aboutPosts('title|subject|headline|summary|titel|betreff|uberschrift|titre|sujet|titulo|asunto|assunto')}
      idea request feature featurerequest thema idee wunsch objet ideia`),
    possible: NONE,
  },
  content: {
    likely:
      oneOf(`${aboutPosts('description|details?|body|text|content|message|beschreibung|inhalt|nachricht|contenu|texte')}
      ${aboutPosts('descripcion|contenido|texto|mensaje|detalles|descricao|conteudo|mensagem|detalhes')}`),
    possible: oneOf(
      '(your|customer|user|client|kunden|additional|general|public)?(comments?|feedback|kommentare?|commentaires?|comentarios?)',
    ),
  },
  email: { likely: oneOf(`${AROUND_MAIL}*${MAIL.source}${AROUND_MAIL}*`), possible: oneOf('requester') },
  full_name: {
    likely:
      oneOf(`author(name)? username customer(name)? creator(name)? requestername sender(name)? vollstandigername autor kunde
      kundenname absender namedesautors nomcomplet auteur client nomduclient nomdelauteur nombrecompleto cliente nombredelautor
      nomecompleto nomedocliente nomedoautor`),
    // Only beside an e-mail column, see `takeByName`: a name alone says nothing about a person.
    possible: oneOf('name requester nom nombre nome'),
  },
  board: {
    likely: oneOf('category forum boardslug kategorie categorie categoria foro tablero quadro'),
    possible: NONE,
  },
  key: {
    likely:
      oneOf(`externalid ref reference externalkey ticketid issuekey cardid taskid referenz kennung identifiant referencia
      identificador`),
    possible: oneOf('id'),
  },
};

/** A longer header is no name but a sentence. */
const LONGEST_NAME = 60;

interface Draft {
  columns: readonly Column[];
  used: Map<Field, MappedColumn>;
  unclear: UnclearField[];
  isFree(index: number): boolean;
  /** Nobody has said yet which column it is, or that there is none. */
  isWanted(field: Field): boolean;
  take(field: Field, index: number, how: MappedColumn['how']): void;
}

/**
 * Which column feeds which field: what was asked, then the layout of a known tool, then the field's own name and its aliases. The first
 * rows help to tell posts from people, since a title and a text are public.
 */
export function mapColumns(
  headers: readonly string[],
  wishes: Wishes,
  sample: readonly (readonly string[])[] = [],
): Columns {
  const draft = openDraft(headers, wishes, sample);
  const layout = takeLayout(draft);
  for (const rank of layout ? RANKS.slice(0, 1) : RANKS) takeByName(draft, rank);
  if (!layout) reviewTitle(draft);
  askForMissing(draft, wishes, layout);
  const { used, columns, unclear, isFree } = draft;
  const ignored = columns.flatMap(({ header }, i) => (isFree(i) ? [header] : []));
  return { layout, mapping: FIELDS.flatMap((field) => used.get(field) ?? []), ignored, unclear };
}

function openDraft(
  headers: readonly string[],
  wishes: Wishes,
  sample: readonly (readonly string[])[],
): Draft {
  const used = new Map<Field, MappedColumn>();
  for (const column of askedColumns(headers, wishes)) used.set(column.field, column);
  const unclear: UnclearField[] = [];
  const isLeftOut = (field: Field): boolean =>
    wishes.map?.[field] === null || (field === 'board' && wishes.board !== undefined);
  const columns = columnsOf(headers, sample);
  return {
    columns,
    used,
    unclear,
    isFree: (index) => ![...used.values()].some((column) => column.index === index),
    isWanted: (field) =>
      !used.has(field) && !isLeftOut(field) && !unclear.some((each) => each.field === field),
    take: (field, index, how) => used.set(field, { field, header: columns[index]?.header ?? '', index, how }),
  };
}

/** The result columns of our own files are no candidates. In one that "outbox list" wrote the headers alone tell what a column holds. */
function columnsOf(headers: readonly string[], sample: readonly (readonly string[])[]): Column[] {
  const names = distinctNames(headers);
  const own = headers.slice(0, dataColumns(headers));
  const isOutboxList = own.length < headers.length && own.join() === FIELDS.join();
  const telling = isOutboxList ? [] : sample;
  return own.map((header, i) => ({ ...columnOf(header, i, telling), header: names[i] ?? header }));
}

/** What each column is called where one is chosen: its position stands behind a name that the file repeats, and in place of none. */
export function distinctNames(headers: readonly string[]): string[] {
  const times = new Map<string, number>();
  for (const header of headers) times.set(header.trim(), (times.get(header.trim()) ?? 0) + 1);
  return headers.map((header, i) => {
    const name = header.trim();
    return name !== '' && times.get(name) === 1 ? header : `${name} (column ${i + 1})`.trimStart();
  });
}

function layoutOf(columns: readonly Column[]): Layout | null {
  const names = new Set(columns.map(({ name }) => name));
  return LAYOUTS.find(({ has }) => has.every((name) => names.has(name))) ?? null;
}

/** Takes the columns of a known tool; but not those of a list of people that has the same columns. */
function takeLayout({ columns, used, unclear, isFree, isWanted, take }: Draft): Layout | null {
  const layout = layoutOf(columns);
  const places = (field: Field): number[] =>
    (layout?.columns[field] ?? []).map((name) => columns.findIndex((column) => column.name === name));
  const [titleAt = -1] = places('title').filter((at) => at >= 0);
  const title = columns[titleAt];
  if (layout && title && !used.has('title') && isListOfPeople(title, columns)) {
    const problem = `it could be ${article(layout.name)} export, but "${title.header}" may hold names of people`;
    const hint = `${found(columns)} If its rows are posts, name the column of their titles: --map title=Header`;
    unclear.push({ field: 'title', proposals: [], problem, hint });
    return null;
  }
  for (const field of ORDER.filter(isWanted)) {
    const fits = (at: number): boolean => at >= 0 && isFree(at) && mayBe(field, columns[at]);
    const index = places(field).find(fits);
    if (index !== undefined) take(field, index, 'layout');
  }
  return layout;
}

/** Asana, Notion, Airtable and Trello call the title Name, and people keep lists of people there as well. */
function isListOfPeople(title: Column, columns: readonly Column[]): boolean {
  return title.name.endsWith('name') && (holdsNames(title) || columns.some(isContactDetail));
}

function takeByName({ columns, unclear, used, isFree, isWanted, take }: Draft, rank: Rank): void {
  for (const field of ORDER.filter(isWanted)) {
    if (rank === 'possible' && field === 'full_name' && !used.has('email')) continue;
    const free = claimants(columns, field, rank).filter(isFree);
    if (free.length > 1) unclear.push(several(field, free, columns));
    else if (free[0] !== undefined) take(field, free[0], rank === 'exact' ? 'exact' : 'alias');
  }
}

/** "Title" of "Title, First, Last, Email, Feedback" is no title of a post. */
function reviewTitle({ columns, used, unclear, isFree }: Draft): void {
  const { index = -1, how } = used.get('title') ?? {};
  const title = columns[index];
  if (!title || how === 'asked') return;
  const others = columns.filter((column) => column !== title);
  // A comment may be that of a survey; what is called a description belongs to a post.
  const isOfPosts = (field: Field, ranks: readonly Rank[]): boolean =>
    used.get(field)?.how === 'asked' || ranks.some((rank) => claimants(columns, field, rank).length > 0);
  const hasPosts = isOfPosts('content', ['exact', 'likely']) || isOfPosts('board', RANKS);
  if (!isTitleOfPeople(title, others, hasPosts)) return;
  used.delete('title');
  const problem = `"${title.header}" stands beside people and may be how they are addressed, or their job`;
  unclear.unshift(unclearTitle({ columns, isFree: (at) => at !== index && isFree(at) }, problem));
}

/** How many fields the headers seem to have: the right delimiter is the one that makes sense of most. */
export function countClaims(headers: readonly string[], map: ReadOptions['map']): number {
  const columns = columnsOf(headers, []);
  const names = columns.flatMap(({ name, header }) => [name, foldedName(header)]);
  const asked = Object.values(map ?? {}).filter((header) => names.includes(foldedName(header ?? '')));
  const known = layoutOf(columns)?.has.length ?? 0;
  const claimed = FIELDS.filter((field) => RANKS.some((rank) => claimants(columns, field, rank).length > 0));
  return asked.length + claimed.length + known;
}

function claimants(columns: readonly Column[], field: Field, rank: Rank): number[] {
  const isMeant = ({ name }: Column): boolean =>
    rank === 'exact'
      ? name === foldedName(field)
      : name.length <= LONGEST_NAME && ALIASES[field][rank].test(name);
  return columns.flatMap((column, index) => (isMeant(column) && mayBe(field, column) ? [index] : []));
}

/** What the values of a column rule out: addresses are never public, counts are no text, and a name is no address. */
function mayBe(field: Field, column: Column | undefined): boolean {
  if (!column) return false;
  if (field === 'title' || field === 'full_name') return !holdsPeople(column);
  if (field === 'content')
    return !holdsPeople(column) && !(column.name === 'comments' && holdsNumbers(column));
  const isName = field === 'email' && column.name === 'requester' && column.values.length > 0;
  return !isName || holdsAddresses(column);
}

function askedColumns(headers: readonly string[], { map = {}, board }: Wishes): MappedColumn[] {
  return Object.entries(map).flatMap(([name, header]) => {
    if (header === undefined || header === null) return [];
    const field = FIELDS.find((candidate) => foldedName(candidate) === foldedName(name));
    if (!field)
      throw unknownName(`--map ${name}=${header}: there is no field`, name, FIELDS, 'The fields are');
    if (field === 'board' && board !== undefined) {
      throw new AppError('usage', '--board and --map board=... contradict each other: give one of them');
    }
    return [{ field, ...askedColumn(headers, header, field), how: 'asked' as const }];
  });
}

function askedColumn(
  headers: readonly string[],
  asked: string,
  field: Field,
): Pick<MappedColumn, 'header' | 'index'> {
  const names = distinctNames(headers);
  const called = (isMeant: (name: string) => boolean): number[] =>
    headers.flatMap((header, i) => (isMeant(header) || isMeant(names[i] ?? '') ? [i] : []));
  const exact = called((name) => name === asked);
  const found = exact.length > 0 ? exact : called((name) => foldedName(name) === foldedName(asked));
  const [index] = found;
  if (index === undefined)
    throw unknownName(
      `--map ${field}=${asked}: the file has no column`,
      asked,
      names,
      'The columns of the file are',
    );
  if (found.length === 1) return { header: names[index] ?? '', index };
  const columns = names.map((header) => ({ header }));
  const { problem, hint } = several(field, found, columns);
  throw new AppError('usage', problem, { hint });
}

function unknownName(start: string, name: string, known: readonly string[], list: string): AppError {
  const near = nearest(name, known);
  const meant = near === null ? '' : `; did you mean "${near}"?`;
  return new AppError('usage', `${start} "${name}"${meant}`, { hint: `${list} ${quoted(known)}.` });
}

/** Of two columns that could both be meant neither is guessed. */
function several(
  field: Field,
  found: readonly number[],
  columns: readonly Pick<Column, 'header'>[],
): UnclearField {
  const proposals = found.map((index) => columns[index]?.header ?? '');
  const positions = found.map((index) => index + 1).join(' and ');
  return {
    field,
    proposals,
    problem: `columns ${positions}, ${quoted(proposals)}, could both be the ${field}`,
    hint: `Say which one it is: --map ${field}=${quoted(proposals.slice(0, 1))}`,
  };
}

function askForMissing(draft: Draft, { board }: Wishes, layout: Layout | null): void {
  if (board !== undefined && board.trim() === '') throw new AppError('usage', '--board is blank');
  const { columns, used, unclear, isWanted } = draft;
  const isOpen = (field: Field): boolean => !used.has(field) && !unclear.some((each) => each.field === field);
  if (isOpen('title')) unclear.unshift(unclearTitle(draft, 'the file has no title column'));
  const text = layout === null && isWanted('content') ? unclearText(draft) : null;
  if (text) unclear.push(text);
  if (board !== undefined || !isOpen('board')) return;
  const problem = 'the file has no board column, and no board was given for all rows';
  const hint = `${found(columns)} Give one board for all rows, --board SLUG, or name the column: --map board=Header`;
  unclear.push({ field: 'board', proposals: [], problem, hint });
}

const found = (columns: readonly Column[]): string =>
  `The columns of the file are ${quoted(columns.map(({ header }) => header))}.`;

/** What no title is beside what is personal: numbers, dates and labels. */
const NO_TITLE =
  /vote|count|score|status|state|date|datum|created|updated|time|tag|label|url|link|attachment|^id$|priority|board|category/;

/** Proposes columns that could be a title, and a text where there is nothing else; nothing that may be personal is among them. */
function unclearTitle({ columns, isFree }: Pick<Draft, 'columns' | 'isFree'>, problem: string): UnclearField {
  const isPublic = (column: Column): boolean =>
    column.name !== '' &&
    !isPersonal(column) &&
    !isInternal(column) &&
    !isNotes(column) &&
    !holdsNumbers(column);
  const good = columns.flatMap((column, i) => (isPublic(column) && !NO_TITLE.test(column.name) ? [i] : []));
  const isText = (i: number): boolean => claimsText(columns, i);
  const titles = good.filter((i) => isFree(i) && !isText(i));
  const proposals = (titles.length > 0 ? titles : good.filter(isText)).map((i) => columns[i]?.header ?? '');
  const perhaps = proposals.length > 0 ? quoted(proposals.slice(0, 1)) : 'Header';
  const hint = `${found(columns)} Name the right one: --map title=${perhaps}`;
  return { field: 'title', proposals, problem, hint };
}

const claimsText = (columns: readonly Column[], index: number): boolean =>
  RANKS.some((rank) => claimants(columns, 'content', rank).includes(index));

/** Notes, which may be internal, and columns of sentences: posts would go out without a text, and nobody would notice. */
function unclearText({ columns, isFree }: Draft): UnclearField | null {
  const free = columns.filter((column, i) => isFree(i) && !isInternal(column) && !isPersonal(column));
  const notes = free.filter(isNotes);
  const proposals = [...free.filter((column) => !isNotes(column) && holdsProse(column)), ...notes];
  const [first] = proposals;
  if (!first) return null;
  const isDoubtful = first === notes[0];
  const problem = isDoubtful
    ? `"${first.header}" may be the text, or notes about customers that are not for everybody`
    : 'it is not clear which column is the text';
  const hint = `If it is the text, which is public: --map content=${quoted([first.header])}; without a text: --map content=`;
  return { field: 'content', proposals: proposals.map(({ header }) => header), problem, hint };
}

function quoted(names: readonly string[]): string {
  const shown = names.slice(0, 30).map((name) => `"${name}"`);
  if (names.length > shown.length) shown.push(`and ${names.length - shown.length} more`);
  return shown.join(', ');
}

const article = (name: string): string => `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`;
