import type { Post, User } from '../../src/contract/decode.ts';
import type { Random } from '../../src/sandbox/random.ts';
import type { Asked } from './simulated-upstream.ts';

export const BOARDS = ['ideas', 'bugs', 'praise'];
const OWNER = 'owner@example.com';

/** The post a create becomes, changed as services change what they are given. */
export function simulatedPost(id: number, asked: Asked, created: number, random: Random): Post {
  const { board, title, email } = asked;
  return {
    id,
    title: shownTitle(title, random),
    content: shownContent(asked.content, random),
    url: `/p/${id}`,
    creator: creator(email ?? OWNER),
    board: { id: 1 + BOARDS.indexOf(board), name: board.toUpperCase(), url: `/b/${board}`, extra: null },
    status: { id: 1, name: 'Open', color: '#ffffff', extra: null },
    votes_count: random.int(4),
    comments_count: random.int(3),
    created: new Date(created).toISOString(),
    extra: null,
  };
}

function shownTitle(title: string, random: Random): string {
  return random.pick([title.trim(), title.trim().normalize('NFC'), escaped(title.trim())]);
}

function shownContent(content: string, random: Random): string {
  const lines = content.replaceAll('\r\n', '\n');
  return random.pick([
    content,
    lines.trim(),
    `<p>${escaped(lines).replaceAll('\n', '<br />')}</p>`,
    `<div>\n${escaped(lines.trim()).replaceAll('\n', '</p>\n<p>')}\n</div>`,
    lines.normalize('NFC'),
  ]);
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const people = new Map<string, User>();

function creator(email: string): User {
  const known = people.get(email);
  if (known) return known;
  const user: User = {
    id: people.size + 1,
    email,
    name: email.split('@')[0] ?? email,
    alias: null,
    registered: null,
    is_admin: email === OWNER,
    is_team: false,
    extra: null,
  };
  people.set(email, user);
  return user;
}
