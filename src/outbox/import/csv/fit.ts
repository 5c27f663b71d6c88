import { foldedName } from '../../../text/text.ts';
import type { Column, Kind } from './facts.ts';
import { FIELDS, type Field, type NotCarriedOver } from './rows.ts';
import {
  CLOSED_COLUMNS,
  COMMENTS,
  FACTS_OF_PEOPLE,
  FIELD_NAMES,
  FILES,
  INTERNAL,
  NAME_PART,
  NEVER_PROPOSED,
  NOTES,
  STATE_COLUMNS,
  TAGS,
  VISIBILITY,
  VOTES,
  type Vocabulary,
} from './vocabulary.ts';

/**
 * How well a column fits a field, by two facts: what its header is, and what kind of values it has.
 *
 * 1. `exact`: the header is the field's own name. `likely`: it is another usual name of the field. `possible`: it is a name that is used
 *    where nothing better is there. Each needs values that the field can have (`NEVER`).
 * 2. `proposed`, for title and text alone: the header is no known name, and the values are texts that differ from row to row.
 * 3. `no`: everything else.
 */
export type Fit = 'exact' | 'likely' | 'possible' | 'proposed' | 'no';

export function fit(column: Column, field: Field): Fit {
  const named = nameFit(column, field);
  if (named !== 'no') return canHold(column, field, named) ? named : 'no';
  const kinds = PROPOSED[field];
  return kinds?.has(column.kind) && !column.isSparse && isPublicText(column) ? 'proposed' : 'no';
}

/** Kinds of values that a field cannot have, whatever the header says. The field's own name is believed, but for addresses. */
const NEVER: Record<Field, readonly Kind[]> = {
  title: ['blank', 'addresses', 'links', 'times', 'numbers', 'ids'],
  content: ['addresses', 'times', 'numbers'],
  board: ['addresses', 'times', 'sentences'],
  email: [],
  full_name: ['addresses', 'times', 'sentences'],
  key: ['labels', 'sentences'],
};
const PERSONAL: readonly Field[] = ['title', 'content', 'full_name'];
/** Each row needs these, so a column that is mostly empty is none: "Review Title" of Google Play, "Kategorie" of Redmine. */
const NEEDED: readonly Field[] = ['title', 'board'];

function canHold({ kind, isSparse }: Column, field: Field, named: Fit): boolean {
  if (named === 'exact') return kind !== 'addresses' || !PERSONAL.includes(field);
  if (isSparse && NEEDED.includes(field)) return false;
  if (field === 'email' && named === 'possible') return ['addresses', 'nothing', 'blank'].includes(kind);
  return !NEVER[field].includes(kind);
}

const PROPOSED: Partial<Record<Field, ReadonlySet<Kind>>> = {
  title: new Set<Kind>(['terms', 'phrases', 'sentences']),
  content: new Set<Kind>(['sentences']),
};

const OWN_NAMES = new Map(FIELDS.map((field) => [field, foldedName(field)]));

/** What the header alone says. */
function nameFit({ name }: Column, field: Field): Fit {
  if (name === OWN_NAMES.get(field)) return 'exact';
  const [usual, fallback] = FIELD_NAMES[field];
  return usual.has(name) ? 'likely' : fallback.has(name) ? 'possible' : 'no';
}

/** A column that a required field is called by, but that is empty in most rows. */
export function isTooEmpty(column: Column, field: Field): boolean {
  return column.isSparse && NEEDED.includes(field) && nameFit(column, field) === 'likely';
}

/** Which field a header seems to name, without a look at its values. */
export function isNamed(column: Column): boolean {
  return FIELDS.some((field) => nameFit(column, field) !== 'no');
}

/** A form asks in a sentence, which may mention anything: "What should our product do next time?" */
const isQuestion = ({ words }: Column): boolean => words.length > 4;

/** Neither personal nor internal, nor what sorts, counts or dates a row. "Name" is public where it holds longer texts than names are. */
function isPublicText(column: Column): boolean {
  if (column.name === '' || isPersonal(column) || isInternal(column) || isNotes(column)) return false;
  if (column.name === 'name') return column.kind !== 'terms';
  const isOther = [NEVER_PROPOSED, STATE_COLUMNS, CLOSED_COLUMNS, VOTES, TAGS, FILES].some((list) =>
    list.isIn(column),
  );
  const isField = FIELDS.some((field) => field !== 'content' && nameFit(column, field) !== 'no');
  return !isField && (isQuestion(column) || !isOther);
}

export const isInternal = (column: Column): boolean => INTERNAL.isIn(column);

export const isNotes = (column: Column): boolean =>
  NOTES.isIn(column) && !FIELD_NAMES.title[0].has(column.name);

/** What tells a list of people from a list of posts: their parts of names, companies and telephones. */
export const isOfPeople = (column: Column): boolean =>
  NAME_PART.has(column.name) || FACTS_OF_PEOPLE.isIn(column);

/** What is never taken for a public field by a guess. */
export function isPersonal(column: Column): boolean {
  return isOfPeople(column) || nameFit(column, 'email') !== 'no' || column.kind === 'addresses';
}

/** Whether the column says how far a post is: `state` by its values, `closing` by being filled at all. */
export function stateRole({ name, kind }: Column): 'state' | 'closing' | null {
  if (CLOSED_COLUMNS.has(name)) return 'closing';
  return STATE_COLUMNS.has(name) && !NO_STATE.has(kind) ? 'state' : null;
}
const NO_STATE: ReadonlySet<Kind> = new Set(['addresses', 'links', 'times', 'numbers', 'ids', 'sentences']);

const LOST: readonly [NotCarriedOver, Vocabulary][] = [
  ['comments', COMMENTS],
  ['votes', VOTES],
  ['tags', TAGS],
  ['attachments', FILES],
];

/** What the API does not take. */
export function lostRole(column: Column): NotCarriedOver | null {
  if (column.kind === 'times') return 'dates';
  if (isQuestion(column)) return null;
  if (VISIBILITY.has(column.name) && column.kind === 'labels') return 'who may see a row';
  return LOST.find(([, words]) => words.isIn(column))?.[0] ?? null;
}
