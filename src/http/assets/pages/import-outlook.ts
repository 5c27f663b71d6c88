import type { UnknownBoard } from '../../../outbox/import/outlook.ts';
import type { Duplicate } from '../../../outbox/import/similar.ts';
import type { Rehearsal } from '../../dashboard/imports-shapes.ts';
import { type Child, h } from '../dom.ts';
import { counted, number } from '../format.ts';
import { card, table } from '../parts.ts';

type Readable = Rehearsal & { ok: true };

/** What the mirror can tell about the rows that would be sent. */
export function outlookCards(rehearsal: Readable): Child[] {
  if (rehearsal.tally.accepted === 0) return [];
  return [h('div', { class: 'grid' }, asWhom(rehearsal), boardsCard(rehearsal)), duplicatesCard(rehearsal)];
}

function asWhom({ outlook }: Readable): HTMLElement {
  const { mirror, asOwner, asKnownCustomer, asNewCustomer, knownCustomers, newCustomers } = outlook;
  const rows = [
    { who: 'you, the owner of the token', n: asOwner, people: null },
    { who: 'customers the mirror knows', n: asKnownCustomer, people: knownCustomers },
    {
      who: mirror === 'empty' ? 'customers, new or not' : 'new customers',
      n: asNewCustomer,
      people: newCustomers,
    },
  ].filter(({ n }) => n > 0);
  return card(
    { title: 'Goes out as', size: 'half' },
    table(
      [
        { head: 'Who', cell: ({ who }) => who },
        { head: 'Rows', kind: 'number', cell: ({ n }) => number(n) },
        { head: 'People', kind: 'number', cell: ({ people }) => number(people) },
      ],
      rows,
      'Goes out as',
    ),
  );
}

function boardsCard({ outlook }: Readable): HTMLElement {
  const { unknownBoards, moreUnknownBoards, mirror } = outlook;
  const title = 'Boards nobody has seen';
  if (mirror === 'empty')
    return card(
      { title, size: 'half' },
      h('p', { class: 'note' }, 'The mirror is still empty, so nothing can be compared.'),
    );
  return card(
    {
      title,
      size: 'half',
      note: moreUnknownBoards > 0 ? `and ${number(moreUnknownBoards)} rows more` : null,
    },
    table<UnknownBoard>(
      [
        { head: 'Board', cell: ({ board }) => board },
        { head: 'Rows', kind: 'number', cell: ({ rows }) => number(rows) },
        { head: 'First in line', kind: 'number', cell: ({ line }) => number(line) },
        { head: 'Perhaps meant', cell: ({ nearest }) => nearest ?? '–' },
      ],
      unknownBoards,
      title,
      'Every board of the file is known.',
    ),
  );
}

function duplicatesCard({ outlook, tally }: Readable): Child {
  const { checked, found, examples } = outlook.duplicates;
  if (outlook.mirror === 'empty') return null;
  const scope = checked < tally.accepted ? `the first ${counted(checked, 'row')} were compared` : null;
  const more = found > examples.length ? `${number(found)} in all` : null;
  return card(
    {
      title: 'Looks like a post that exists',
      note: [more, scope].filter((text) => text !== null).join('; ') || null,
    },
    table<Duplicate>(
      [
        { head: 'Line', cell: ({ line }) => number(line) },
        { head: 'Title in the file', cell: ({ title }) => title },
        {
          head: 'Post',
          cell: ({ postId, postTitle }) => h('a', { href: `/posts/${postId}` }, `${postId}: ${postTitle}`),
        },
      ],
      examples,
      'Looks like a post that exists',
      'None of the new rows does.',
    ),
  );
}
