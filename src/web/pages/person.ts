import type { PersonComment, PersonFacts, PersonView } from '../../store/browse/pages.ts';
import { fetchJson, withQuery } from '../api.ts';
import { customerRow } from '../customer-file.ts';
import { type Child, h } from '../dom.ts';
import { counted, date, number } from '../format.ts';
import { keepDrawn, type Page } from '../page.ts';
import { card, facts, pageHead, postLink, prose, tag, timeTag } from '../parts.ts';
import { postRow } from './posts.ts';

/** A person: who they are, what they asked for, what they said. */
export const page: Page = {
  title: 'Person',
  async show(context) {
    const { root, url, parts, signal } = context;
    const path = withQuery('/data/people', { id: parts[0], email: url.searchParams.get('email') });
    const body = h('div.stacked');
    await keepDrawn(context, body, () => fetchJson<PersonView>(path, { signal }), drawn);
    root.append(h('p.crumbs', h('a', { href: '/reports/customers' }, 'Customers')), body);
  },
};

function drawn({ person, posts, comments }: PersonView): Child[] {
  const name = person.name ?? `User ${person.id}`;
  document.title = `${name} · Feedback Mirror`;
  const lead = `${counted(posts.total, 'post')} with ${counted(posts.votes, 'vote')}, ${counted(comments.total, 'comment')}.`;
  const all =
    posts.total > posts.newest.length
      ? h('a', { href: withQuery('/posts', { creator: person.id }) }, `All ${number(posts.total)}`)
      : null;
  return [
    pageHead(name, lead),
    h('div.grid', card({ title: 'About', size: 'third' }, facts(factsOf(person))), segmentCard(person)),
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
    ['E-mail', email],
    ['Role', tag(isTeam ? 'Team' : 'Customer')],
    ['Registered', registered && date(registered)],
    ['In the mirror since', timeTag(firstSeen, date(firstSeen))],
    ['Number', String(id)],
  ];
  return said.filter((pair) => pair[1] !== null);
}

/** What the upstream tells of them beyond its own fields, and their line in the file of customers that is chosen in a report. */
function segmentCard({ email, extra }: PersonFacts): HTMLElement {
  const told = Object.entries((extra === null ? {} : JSON.parse(extra)) as Record<string, unknown>).map(
    ([name, value]): [string, Child] => [name, typeof value === 'string' ? value : JSON.stringify(value)],
  );
  const listed = customerRow(email) ?? [];
  const lines: [string, Child][] = [
    ...told,
    ...listed.map(([name, value]): [string, Child] => [name, value || '–']),
  ];
  return card(
    { title: 'Segment', size: 'two-thirds' },
    lines.length > 0
      ? facts(lines)
      : h(
          'p.note',
          'Nothing is known of their plan or company. ',
          h('a', { href: '/reports/segments' }, 'Choose a file of customers'),
          ' in the report segments: while this window is open, their line of it is shown here.',
        ),
  );
}

function commentItem({ postId, postTitle, content, created, internal }: PersonComment): HTMLElement {
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
