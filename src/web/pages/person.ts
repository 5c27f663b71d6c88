import type { PersonComment, PersonFacts, PersonView } from '../../search/browse/pages.ts';
import { fetchJson, withQuery } from '../api.ts';
import { counted, date, number } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { card, facts, pageHead, tag, timeTag } from '../parts/layout.ts';
import { postRow } from '../parts/post-row.ts';
import { emailText, postLink, prose } from '../parts/prose.ts';
import { pageOf } from '../shell/page.ts';

/** A person: who they are, what they asked for, what they said. */
export const page = pageOf<PersonView>({
  title: ({ person }) => nameOf(person),
  follows: () => true,
  load: ({ parts: [id] }, signal) => fetchJson(withQuery('/data/people', { id }), { signal }),
  view: ({ answer }) => [
    h('p.crumbs', h('a', { href: '/people' }, 'People')),
    h('div.stacked', content(answer)),
  ],
});

function nameOf({ name, id }: PersonFacts): string {
  return name ?? `User ${id}`;
}

function content(answer: PersonView): Child[] {
  const { person, posts, comments } = answer;
  const lead = `${counted(posts.total, 'post')} with ${counted(posts.votes, 'vote')}, ${counted(comments.total, 'comment')}.`;
  const all =
    posts.total > posts.newest.length
      ? h('a', { href: withQuery('/posts', { creator: person.id }) }, `All ${number(posts.total)}`)
      : null;
  return [
    pageHead(nameOf(person), lead),
    h('div.grid', card({ title: 'About', size: 'third' }, facts(factsOf(person))), segmentCard(answer)),
    card(
      { title: 'Posts', note: all ?? 'the newest first' },
      posts.newest.length === 0
        ? h('p.empty', 'They wrote no post that is still there.')
        : h('ol.posts.bare', { 'aria-label': 'Posts' }, ...posts.newest.map((post) => postRow(post))),
    ),
    card(
      {
        title: 'Comments',
        note: comments.total > comments.newest.length ? `the newest ${comments.newest.length}` : null,
      },
      comments.newest.length === 0
        ? h('p.empty', 'They wrote no comment that is still there.')
        : h('ol.comments', { 'aria-label': 'Comments' }, ...comments.newest.map(commentItem)),
    ),
  ];
}

function factsOf({ id, name, alias, email, isTeam, registered, firstSeen }: PersonFacts): [string, Child][] {
  const said: [string, Child][] = [
    ['Name', name ?? '–'],
    ['Alias', alias],
    ['E-mail', email && emailText(email)],
    ['Role', tag(isTeam ? 'Team' : 'Customer')],
    ['Registered', registered && date(registered)],
    ['Mirrored since', timeTag(firstSeen, date(firstSeen))],
    ['Number', String(id)],
  ];
  return said.filter((pair) => pair[1] !== null);
}

/** Their row of the customers file, and what the upstream tells of them beyond its own fields. */
function segmentCard({ person, segment }: PersonView): VNode {
  const { company, plan, value, valueName } = segment ?? {};
  const said: [string, Child][] = [
    ['Company', company && h('a', { href: `/companies/${encodeURIComponent(company)}` }, company)],
    ['Plan', plan],
    [valueName ?? 'Value', value == null ? null : number(value)],
  ];
  const lines = [
    ...said.filter((pair) => pair[1]),
    ...[segment?.extra, person.extra].flatMap((json) => furtherFacts(json ?? '{}')),
  ];
  return card(
    { title: 'Segment', size: 'two-thirds' },
    lines.length > 0
      ? facts(lines)
      : h(
          'p.note',
          'Nothing is known of their plan or company. ',
          h('a', { href: '/customers' }, 'Import a file of customers'),
          ' to see it here.',
        ),
  );
}

function furtherFacts(json: string): [string, Child][] {
  return Object.entries(JSON.parse(json) as Record<string, unknown>).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
}

function commentItem({ postId, postTitle, content, created, internal }: PersonComment): VNode {
  return h(
    'li',
    { class: internal ? 'internal' : null },
    h(
      'div.comment-head',
      postLink(postId, postTitle),
      h('span.quiet', timeTag(created, date(created))),
      internal ? tag('internal', 'warn') : null,
    ),
    prose(content),
  );
}
