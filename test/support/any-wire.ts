import fc from 'fast-check';
import { anyText } from './any-text.ts';

export const wellFormedText = anyText({ maxLength: 40 });
const id = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const count = fc.maxSafeInteger();
const moment = fc
  .date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
  .map((date) => date.toISOString());

const anyUser = fc.record({
  id,
  email: fc.option(wellFormedText),
  name: fc.option(wellFormedText),
  alias: fc.option(wellFormedText),
  registered: fc.option(moment),
  is_admin: fc.boolean(),
  is_team: fc.boolean(),
});

/** Any post the contract allows, without undocumented fields. */
export const anyPost = fc.record({
  id,
  title: wellFormedText,
  content: wellFormedText,
  url: wellFormedText,
  creator: anyUser,
  board: fc.record({ id, name: wellFormedText, url: wellFormedText }),
  status: fc.record({ id, name: wellFormedText, color: wellFormedText }),
  votes_count: count,
  created: moment,
  comments_count: count,
});
