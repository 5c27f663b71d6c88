import { AppError } from '../../../base/errors.ts';
import { foldedName, nearest } from '../../../text/text.ts';
import { type Column, columnOf } from './facts.ts';
import {
  type Fit,
  fit,
  isInternal,
  isNamed,
  isNotes,
  isOfPeople,
  isPersonal,
  isTooEmpty,
  lostRole,
  stateRole,
} from './fit.ts';
import { LAYOUTS, type Layout } from './layouts.ts';
import { columnQuestion, type Question, questionHint, quotedNames } from './questions.ts';
import {
  dataColumns,
  FIELDS,
  type Field,
  type FoundColumns,
  type MappedColumn,
  type ReadOptions,
} from './rows.ts';
import type { StateColumn } from './state.ts';

type MappingRequest = Pick<ReadOptions, 'map' | 'board'>;

export interface MappedColumns extends FoundColumns {
  layout: Layout | null;
  /** What a person has to say before the file can be read; the first is the most important. */
  questions: Question[];
}

/** An e-mail column must be settled before a name column can be read as that person's name. */
const ORDER: readonly Field[] = ['title', 'content', 'email', 'full_name', 'board', 'key'];
/** The order in which fields take their columns. */
const RANKS = ['exact', 'likely', 'possible'] as const satisfies Fit[];
type Rank = (typeof RANKS)[number];

interface Draft {
  columns: readonly Column[];
  used: Map<Field, MappedColumn>;
  questions: Question[];
  isFree(index: number): boolean;
  /** It was not said yet which column it is, or that there is none. */
  isWanted(field: Field): boolean;
  take(field: Field, index: number, how: MappedColumn['how']): void;
}

/**
 * Which column feeds which field: what was asked, then the layout of a known tool, then how well each column fits (`fit.ts`). The first
 * rows help to tell posts from people, since a title and a text are public.
 */
export function mapColumns(
  headers: readonly string[],
  request: MappingRequest,
  sample: readonly (readonly string[])[] = [],
): MappedColumns {
  const draft = openDraft(headers, request, sample);
  const layout = takeLayout(draft);
  for (const rank of layout ? RANKS.slice(0, 1) : RANKS) takeByFit(draft, rank);
  if (!layout) reviewTitle(draft);
  askForMissing(draft, request, layout);
  const { used, columns, questions, isFree } = draft;
  const ignored = columns.flatMap(({ header }, i) => (isFree(i) ? [header] : []));
  const mapping = FIELDS.flatMap((field) => used.get(field) ?? []);
  const stateColumns = statesOf(draft, layout);
  const [lostColumns, otherTitles] = [lostOf(draft, stateColumns), otherTitlesOf(draft)];
  return { layout, mapping, ignored, stateColumns, lostColumns, otherTitles, questions };
}

function openDraft(
  headers: readonly string[],
  request: MappingRequest,
  sample: readonly (readonly string[])[],
): Draft {
  const used = new Map<Field, MappedColumn>();
  for (const column of askedColumns(headers, request)) used.set(column.field, column);
  const questions: Question[] = [];
  const isLeftOut = (field: Field): boolean =>
    request.map?.[field] === null || (field === 'board' && request.board !== undefined);
  const columns = columnsOf(headers, sample);
  return {
    columns,
    used,
    questions,
    isFree: (index) => ![...used.values()].some((column) => column.index === index),
    isWanted: (field) => !used.has(field) && !isLeftOut(field) && !questions.some(({ id }) => id === field),
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
function takeLayout({ columns, used, questions, isFree, isWanted, take }: Draft): Layout | null {
  const layout = layoutOf(columns);
  const places = (field: Field): number[] =>
    (layout?.columns[field] ?? []).map((name) => columns.findIndex((column) => column.name === name));
  const [titleAt = -1] = places('title').filter((at) => at >= 0);
  const title = columns[titleAt];
  if (layout && title && !used.has('title') && isListOfPeople(title, columns)) {
    const problem = `it could be ${article(layout.name)} export, but "${title.header}" may hold names of people`;
    questions.push(columnQuestion('title', problem, []));
    return null;
  }
  for (const field of ORDER.filter(isWanted)) {
    const isPublic = field === 'title' || field === 'content' || field === 'full_name';
    const fits = (at: number): boolean =>
      at >= 0 && isFree(at) && !(isPublic && columns[at]?.kind === 'addresses');
    const index = places(field).find(fits);
    if (index !== undefined) take(field, index, 'layout');
  }
  return layout;
}

/** Asana, Notion, Airtable and Trello call the title Name, and people keep lists of people there as well. */
function isListOfPeople(title: Column, columns: readonly Column[]): boolean {
  return (
    title.name.endsWith('name') &&
    (title.kind === 'names' || columns.some((column) => isOfPeople(column) || fit(column, 'email') !== 'no'))
  );
}

function takeByFit({ columns, questions, used, isFree, isWanted, take }: Draft, rank: Rank): void {
  for (const field of ORDER.filter(isWanted)) {
    // A name alone says nothing about a person.
    if (rank === 'possible' && field === 'full_name' && !used.has('email')) continue;
    const free = fitting(columns, field, rank).filter(
      (index) => isFree(index) && !(field === 'full_name' && isNoName(columns, index, used)),
    );
    if (free.length > 1)
      questions.push(
        severalQuestion(
          field,
          free,
          columns.map(({ header }) => header),
        ),
      );
    else if (free[0] !== undefined) take(field, free[0], rank === 'exact' ? 'exact' : 'alias');
  }
}

/** One address belongs to one person. "Name" of Shortcut differs from row to row, while its few members ask: it is the title. */
function isNoName(columns: readonly Column[], index: number, used: Draft['used']): boolean {
  const email = columns[used.get('email')?.index ?? -1];
  return email !== undefined && email.distinct > 0 && (columns[index]?.distinct ?? 0) > email.distinct * 2;
}

function fitting(columns: readonly Column[], field: Field, wanted: Fit): number[] {
  return columns.flatMap((column, index) => (fit(column, field) === wanted ? [index] : []));
}

/**
 * A column called Title may be how people are addressed, or their job. Unless it holds sentences, it is asked about beside parts of names or
 * a company; and beside addresses where the file has neither a text nor a board. One other column by a usual name of titles goes before it: "Subject".
 */
function reviewTitle({ columns, used, questions, isFree, take }: Draft): void {
  const { index = -1, how } = used.get('title') ?? {};
  const title = columns[index];
  if (!title || how === 'asked' || !isTitleOfPeople(title, columns, used)) return;
  used.delete('title');
  const [named, ...more] = fitting(columns, 'title', 'likely').filter((at) => at !== index && isFree(at));
  if (named !== undefined && more.length === 0) {
    take('title', named, 'alias');
    return;
  }
  const problem = `"${title.header}" stands beside people and may be how they are addressed, or their job`;
  questions.unshift(titleQuestion({ columns, isFree: (at) => at !== index && isFree(at) }, problem));
}

function isTitleOfPeople(title: Column, columns: readonly Column[], used: Draft['used']): boolean {
  const isTitle = ['title', 'titel', 'titre', 'titulo', 'titolo', 'tytuł'].includes(title.name);
  if (!isTitle || title.kind === 'sentences') return false;
  if (columns.some((column) => column !== title && isOfPeople(column))) return true;
  // A comment may be that of a survey; what is called a description belongs to a post.
  const isOfPosts = (field: Field, ranks: readonly Rank[]): boolean =>
    used.get(field)?.how === 'asked' || ranks.some((rank) => fitting(columns, field, rank).length > 0);
  const hasPosts = isOfPosts('content', ['exact', 'likely']) || isOfPosts('board', RANKS);
  const hasNames = columns.some((column) => fit(column, 'full_name') !== 'no');
  return !hasPosts && (used.has('email') || (hasNames && title.kind === 'labels'));
}

/** How many fields the headers seem to have: the right delimiter is the one that makes sense of most. */
export function recognisedColumns(headers: readonly string[], map: ReadOptions['map']): number {
  const columns = columnsOf(headers, []);
  const names = columns.flatMap(({ name, header }) => [name, foldedName(header)]);
  const asked = Object.values(map ?? {}).filter((header) => names.includes(foldedName(header ?? '')));
  const known = layoutOf(columns)?.has.length ?? 0;
  return asked.length + columns.filter(isNamed).length + known;
}

/** Columns of states, by their headers or by the layout of a tool. */
function statesOf({ columns, isFree }: Draft, layout: Layout | null): StateColumn[] {
  return columns.flatMap((column, index) => {
    const isOfTool = layout?.states?.includes(column.name) === true;
    const role = isFree(index) ? (stateRole(column) ?? (isOfTool ? 'state' : null)) : null;
    return role ? [{ header: column.header, index, role }] : [];
  });
}

function lostOf({ columns, isFree }: Draft, states: readonly StateColumn[]): FoundColumns['lostColumns'] {
  const isState = (index: number): boolean => states.some((state) => state.index === index);
  const lost = columns.flatMap((column, index) => {
    const what = isState(index) ? 'statuses' : isFree(index) ? lostRole(column) : null;
    return what ? [{ what, header: column.header }] : [];
  });
  return [...Map.groupBy(lost, ({ what }) => what)].map(([what, of]) => ({
    what,
    headers: of.map(({ header }) => header),
  }));
}

function askedColumns(headers: readonly string[], { map = {}, board }: MappingRequest): MappedColumn[] {
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
  const question = severalQuestion(field, found, names);
  throw new AppError('usage', question.problem, { hint: questionHint(question, names) });
}

function unknownName(start: string, name: string, known: readonly string[], list: string): AppError {
  const near = nearest(name, known);
  const meant = near === null ? '' : `; did you mean "${near}"?`;
  return new AppError('usage', `${start} "${name}"${meant}`, { hint: `${list} ${quotedNames(known)}.` });
}

/** If two columns fit equally well, the program asks. */
function severalQuestion(field: Field, found: readonly number[], names: readonly string[]): Question {
  const proposals = found.map((index) => names[index] ?? '');
  const positions = found.map((index) => index + 1).join(' and ');
  return columnQuestion(
    field,
    `columns ${positions}, ${quotedNames(proposals)}, could both be the ${field}`,
    proposals,
  );
}

function askForMissing(draft: Draft, { board }: MappingRequest, layout: Layout | null): void {
  if (board !== undefined && board.trim() === '') throw new AppError('usage', '--board is blank');
  const { used, questions, isWanted } = draft;
  const isOpen = (field: Field): boolean => !used.has(field) && !questions.some(({ id }) => id === field);
  if (isOpen('title'))
    questions.unshift(titleQuestion(draft, missing(draft, 'title', 'the file has no title column')));
  const text = layout === null && isWanted('content') ? textQuestion(draft) : null;
  if (text) questions.push(text);
  if (board !== undefined || !isOpen('board')) return;
  const none = 'the file has no board column, and no board was given for all rows';
  questions.push(columnQuestion('board', missing(draft, 'board', none), []));
}

/** Why no column was taken for a field that each row needs. */
function missing({ columns, isFree }: Draft, field: Field, otherwise: string): string {
  const empty = columns.find((column, index) => isFree(index) && isTooEmpty(column, field));
  return empty ? `"${empty.header}" is empty in most rows, so it is not taken as the ${field}` : otherwise;
}

/** Short texts before single terms, and those before long ones. */
const TITLE_ORDER: readonly Column['kind'][] = ['phrases', 'terms', 'sentences'];

/** Proposes columns that could be a title, and a text where there is nothing else. Where none is fit, it says so. */
function titleQuestion({ columns, isFree }: Pick<Draft, 'columns' | 'isFree'>, problem: string): Question {
  const isText = (column: Column): boolean =>
    ['exact', 'likely', 'possible'].includes(fit(column, 'content'));
  const fits = columns.filter((column) => fit(column, 'title') === 'proposed');
  const titles = fits.filter((column) => isFree(columns.indexOf(column)) && !isText(column));
  const inOrder = (titles.length > 0 ? titles : fits.filter(isText)).toSorted(
    (a, b) => TITLE_ORDER.indexOf(a.kind) - TITLE_ORDER.indexOf(b.kind),
  );
  const none = ', and no other column looks fit to be the title';
  return columnQuestion(
    'title',
    inOrder.length === 0 ? problem + none : problem,
    inOrder.map(({ header }) => header),
  );
}

function otherTitlesOf({ columns, isFree }: Draft): string[] {
  const couldBe = (column: Column): boolean => ['exact', 'likely', 'proposed'].includes(fit(column, 'title'));
  return columns.flatMap((column, i) => (isFree(i) && couldBe(column) ? [column.header] : []));
}

/** Notes, which may be internal, and columns of sentences: posts would go out without a text, unnoticed. */
function textQuestion({ columns, isFree }: Draft): Question | null {
  const free = columns.filter((column, i) => isFree(i) && !isInternal(column) && !isPersonal(column));
  const notes = free.filter(isNotes);
  const proposed = [...free.filter((column) => fit(column, 'content') === 'proposed'), ...notes];
  const [first] = proposed;
  if (!first) return null;
  const problem =
    first === notes[0]
      ? `"${first.header}" may be the text, or notes about customers that are not for everybody`
      : 'it is not clear which column is the text';
  return columnQuestion(
    'content',
    problem,
    proposed.map(({ header }) => header),
  );
}

const article = (name: string): string => `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
