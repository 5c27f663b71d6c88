import type { Field } from './csv-file.ts';

/**
 * What other tools call these columns, as `plainName` spells it. A `likely` name is used when the file has no column
 * by the field's own name; a `possible` one only when nothing better claims the field.
 */
export const ALIASES: Readonly<Record<Field, { likely: readonly string[]; possible: readonly string[] }>> = {
  title: {
    likely: ['subject', 'idea', 'ideatitle', 'summary', 'request', 'feature', 'featurerequest', 'posttitle'],
    possible: ['name'],
  },
  content: {
    likely: ['description', 'details', 'detail', 'body', 'text', 'message', 'postcontent'],
    possible: [],
  },
  email: {
    likely: [
      'authoremail',
      'useremail',
      'requesteremail',
      'customeremail',
      'creatoremail',
      'emailaddress',
      'mail',
    ],
    possible: ['requester'],
  },
  full_name: {
    likely: [
      'author',
      'authorname',
      'username',
      'customer',
      'customername',
      'creator',
      'creatorname',
      'requestername',
    ],
    // Only beside an e-mail column, see `mapColumns`: a name alone says nothing about a person.
    possible: ['name', 'requester'],
  },
  board: { likely: ['category', 'forum', 'boardslug'], possible: [] },
  key: { likely: ['externalid', 'ref', 'reference', 'externalkey'], possible: ['id'] },
};

/** `Author E-mail`, `author_email` and `AUTHOR EMAIL` are one name. */
export function plainName(header: string): string {
  return header
    .normalize('NFKC')
    .replace(/[\s_\-\uFEFF]+/g, '')
    .toLowerCase();
}
