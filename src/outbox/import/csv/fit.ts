import { foldedName } from '../../../text/text.ts';
import type { Column, Kind } from './facts.ts';
import { FIELDS, type Field, type Lost } from './rows.ts';
import {
  ADDRESS_WORD,
  ANY_NAME,
  ASKER,
  ASKERS_NAME,
  BOARD,
  CLOSING,
  COMMENT,
  CONTACT,
  COUNT,
  FILLER,
  ID,
  INTERNAL,
  KEY,
  LABEL,
  LINK,
  MAIL,
  NAME_PART,
  NAME_WORD,
  NOTES,
  PERSON,
  POST,
  POST_AS_TITLE,
  STATE,
  TAGS,
  TEXT,
  TIME,
  TITLE,
  VISIBILITY,
  VOTES,
  type Vocabulary,
  WHOSE,
  WORK,
} from './vocabulary.ts';

/**
 * How well a column fits a field, by two facts: what its header names, and what kind of values it has.
 *
 * 1. `exact`: the header is the field's own name. `likely`: it is another name of the field. `possible`: it may be one, and is used where
 *    nothing better is there. Each needs values that the field can have (`NEVER`).
 * 2. `proposed`, for title and text alone: the header names nothing that is known, and the values are texts that differ from row to row.
 *    A column of people, times, ids, addresses, numbers or a few repeated words is never proposed, nor one whose header names such a thing.
 * 3. `no`: everything else.
 */
export type Fit = 'exact' | 'likely' | 'possible' | 'proposed' | 'no';

export function fit(column: Column, field: Field): Fit {
  const named = nameFit(column, field);
  if (named !== 'no') return canHold(column, field, named) ? named : 'no';
  if (field === 'title') return isTitleLike(column) ? 'proposed' : 'no';
  if (field === 'content') return isPublicText(column) && column.kind === 'sentences' ? 'proposed' : 'no';
  return 'no';
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

const TITLE_KINDS: ReadonlySet<Kind> = new Set(['nothing', 'terms', 'phrases', 'sentences']);
const LONG_KINDS: ReadonlySet<Kind> = new Set(['phrases', 'sentences']);

/** A column that is only called Name is proposed where it holds longer texts than names are. */
function isTitleLike(column: Column): boolean {
  if (column.isSparse) return false;
  if (NAME_WORD.test(column.name)) return LONG_KINDS.has(column.kind);
  return isPublicText(column) && TITLE_KINDS.has(column.kind);
}

/** A longer header is no name but a sentence. */
const LONGEST_NAME = 60;

const OWN_NAMES = new Map(FIELDS.map((field) => [field, foldedName(field)]));

/** What the header alone says. */
function nameFit(column: Column, field: Field): Fit {
  if (column.name === OWN_NAMES.get(field)) return 'exact';
  if (column.name.length > LONGEST_NAME) return 'no';
  const { likely, possible } = NAMES[field];
  if (likely(column)) return hasFewTitles(column, field) ? 'possible' : 'likely';
  return possible(column) ? 'possible' : 'no';
}

/** A "Thema" of few values may be a category: another column by a name of titles goes before it. */
const hasFewTitles = ({ kind }: Column, field: Field): boolean => field === 'title' && kind === 'labels';

interface FieldNames {
  likely(column: Column): boolean;
  possible(column: Column): boolean;
}

/** The header without words that change nothing, and without those of each list given. */
function core({ words }: Column, ...without: Vocabulary[]): string {
  return words.filter((word) => ![FILLER, ...without].some((list) => list.has(word))).join('');
}

/** Matches the whole header, or the rest of it beside a word for posts: "Post Body", "Titel der Idee". */
const isOf =
  (list: Vocabulary) =>
  (column: Column): boolean =>
    list.has(column.name) || list.has(core(column)) || list.has(core(column, POST));

/** "Card name", "Nom de l'idée". */
const isPostName = (column: Column): boolean => POST.isIn(column) && NAME_WORD.test(core(column, POST));

const never = (): boolean => false;

const NAMES: Record<Field, FieldNames> = {
  title: {
    likely: (column) =>
      isOf(TITLE)(column) ||
      POST_AS_TITLE.has(column.name) ||
      POST_AS_TITLE.has(core(column)) ||
      isPostName(column),
    possible: never,
  },
  content: {
    likely: isOf(TEXT),
    possible: (column) => isOf(COMMENT)(column) || COMMENT.has(core(column, WHOSE)),
  },
  email: {
    likely: (column) => MAIL.has(column.name) || MAIL.has(core(column, ASKER, ADDRESS_WORD)),
    // A form asks in a sentence; who works on a post did not ask for it.
    possible: (column) =>
      column.name === 'requester' ||
      (MAIL.isIn(column) && column.kind === 'addresses' && (ASKER.isIn(column) || !PERSON.isIn(column))),
  },
  full_name: {
    likely: (column) => ASKERS_NAME.has(column.name) || ASKERS_NAME.has(core(column)),
    possible: (column) => ANY_NAME.has(column.name) || ANY_NAME.has(core(column)),
  },
  board: {
    likely: isOf(BOARD),
    possible: (column) => BOARD.isIn(column) && column.kind === 'labels',
  },
  key: {
    likely: ({ name }) => KEY.has(name),
    possible: (column) => ID.has(column.name) || ID.has(core(column, POST)),
  },
};

/** A column that a required field is called by, but that is empty in most rows. */
export function isTooEmpty(column: Column, field: Field): boolean {
  return column.isSparse && NEEDED.includes(field) && nameFit(column, field) === 'likely';
}

/** Which field a header seems to name, without a look at its values. */
export function isNamed(column: Column): boolean {
  return FIELDS.some((field) => nameFit(column, field) !== 'no');
}

/** Neither personal nor internal, nor what sorts, counts or dates a row. */
function isPublicText(column: Column): boolean {
  return (
    column.name !== '' &&
    !isPersonal(column) &&
    !isInternal(column) &&
    !isNotes(column) &&
    (isQuestion(column) || !NO_TEXT.some((list) => list.isIn(column))) &&
    !FIELDS.some((field) => field !== 'content' && nameFit(column, field) !== 'no')
  );
}
/** A form asks in a sentence, which may mention anything: "What should our product do next time?" */
const isQuestion = ({ words }: Column): boolean => words.length > 4;
const NO_TEXT: readonly Vocabulary[] = [
  TIME,
  VOTES,
  COUNT,
  LABEL,
  TAGS,
  LINK,
  STATE,
  CLOSING,
  BOARD,
  ID,
  MAIL,
];

export const isInternal = (column: Column): boolean => INTERNAL.isIn(column);

/** Notes may be the text of a post or what a company thinks of a customer. */
export const isNotes = (column: Column): boolean => NOTES.isIn(column) && !isOf(TITLE)(column);

/** Whether a header names a person. Where it names a thing as well, the last word before "of" decides: "Author of the post". */
export function isPerson(column: Column): boolean {
  const { name, words } = column;
  if (NAME_PART.has(name)) return true;
  const ofAt = words.findIndex((word) => OF.has(word));
  const head = words[(ofAt > 0 ? ofAt : words.length) - 1] ?? '';
  const isAbout = words.some((word) => [POST, TITLE, TEXT, COMMENT].some((list) => list.has(word)));
  if (!isAbout) return PERSON.isIn(column) || words.some((word) => NAME_WORD.test(word));
  return PERSON.has(head) || (NAME_WORD.test(head) && PERSON.isIn(column));
}
const OF: ReadonlySet<string> = new Set('of de del della do da dos das des der du van'.split(' '));

/** A position may also be a place in a list. */
export const isOfWork = (column: Column): boolean => WORK.isIn(column) && column.kind !== 'numbers';

/** An address by its header; that of a person who works on a task is no contact. */
const isContactMail = (column: Column): boolean =>
  isMail(column) && !column.words.some((word) => /^(assign|owner|creator|collaborator|follower)/.test(word));

/** Also "Assignee email" and "WorkEmail1". */
const isMail = (column: Column): boolean => MAIL.isIn(column) || /e?mails?$/.test(column.name);

/** Facts about people that stand in a list of them. */
export function isContactDetail(column: Column): boolean {
  return isContactMail(column) || NAME_PART.has(column.name) || isOfWork(column) || CONTACT.isIn(column);
}

/** What is never proposed for a public field, and never taken for one by a guess. */
export function isPersonal(column: Column): boolean {
  const { kind } = column;
  return isMail(column) || isContactDetail(column) || isPerson(column) || kind === 'addresses';
}

/** Whether the column says how far a post is: `state` by its values, `closing` by being filled at all. */
export function stateRole(column: Column): 'state' | 'closing' | null {
  if (CLOSING.has(column.name) || CLOSING.has(core(column, POST))) return 'closing';
  const isState = isOf(STATE)(column) || STATE.has(core(column, POST, NAME_WORDS));
  return isState && !NO_STATE.has(column.kind) ? 'state' : null;
}
const NO_STATE: ReadonlySet<Kind> = new Set(['addresses', 'links', 'times', 'numbers', 'ids', 'sentences']);
/** "suggestion.status.name" */
const NAME_WORDS: Vocabulary = { has: (name) => NAME_WORD.test(name) || name === 'workflow', isIn: never };

/** What the API does not take. */
export function lostRole(column: Column): Lost | null {
  if (isQuestion(column)) return column.kind === 'times' ? 'dates' : null;
  if (VISIBILITY.has(core(column, POST)) && column.kind === 'labels') return 'who may see a row';
  if (COMMENT.isIn(column) && !POST.has(column.name)) return 'comments';
  if (column.kind === 'times' || (TIME.isIn(column) && !isPersonal(column))) return 'dates';
  if (VOTES.has(core(column, POST, COUNT))) return 'votes';
  if (TAGS.isIn(column)) return 'tags';
  return LINK.isIn(column) &&
    /attach|anh|piece|adjunt|anex|allegat|bijlag|zalacz|załącz|添付|附件/.test(column.name)
    ? 'attachments'
    : null;
}
