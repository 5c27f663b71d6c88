import type { Post, User } from '../../src/contract/decode.ts';
import type { Random } from '../../src/sandbox/random.ts';
import { REWRITES } from './rewrites.ts';
import type { Asked } from './simulated-upstream.ts';

export const BOARDS = ['ideas', 'bugs', 'praise'];
const OWNER = 'owner@example.com';

/** How a service changed a post beyond trimming, wrapping and escaping it; null where it did not. */
export type Manner = string | null;

const MANNERS = [...Object.keys(REWRITES), 'moving it', 'folding the address', 'showing the owner'];

export function mannerOf(random: Random, share: number): Manner {
  return random.chance(share) ? random.pick(MANNERS) : null;
}

/** The post a create becomes, changed as services change what they are given. */
export function simulatedPost(
  id: number,
  asked: Asked,
  created: number,
  manner: Manner,
  random: Random,
): Post {
  const board = manner === 'moving it' ? random.pick(BOARDS) : asked.board;
  const words = REWRITES[manner ?? '']?.(asked) ?? asked;
  return {
    id,
    title: shownTitle(words.title, random),
    content: shownContent(words.content, random),
    url: `/p/${id}`,
    creator: creator(shownEmail(asked, manner)),
    board: { id: 1 + BOARDS.indexOf(board), name: board.toUpperCase(), url: `/b/${board}`, extra: null },
    status: { id: 1, name: 'Open', color: '#ffffff', extra: null },
    votes_count: random.int(4),
    comments_count: random.int(3),
    created: new Date(created).toISOString(),
    extra: null,
  };
}

function shownEmail({ email }: Asked, manner: Manner): string {
  if (email === undefined || manner === 'showing the owner') return OWNER;
  return manner === 'folding the address' ? email.replace(/\+.*@/, '@').toLowerCase() : email;
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
