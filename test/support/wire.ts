import type { CommentWire, PostWire, UserWire } from '../../src/contract/entities.ts';

/** Rows as the API's document describes them, to be bent by each test. */
export const user: UserWire = {
  id: 7,
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  alias: 'ada',
  registered: '2023-01-02T03:04:05.678901Z',
  is_admin: true,
  is_team: false,
};

export const post: PostWire = {
  id: 42,
  title: 'Dark mode',
  content: 'My eyes hurt at night.',
  url: '/b/ideas/dark-mode',
  creator: user,
  board: { id: 1, name: 'Ideas', url: '/b/ideas' },
  status: { id: 3, name: 'Planned', color: '#00ff00' },
  votes_count: 12,
  created: '2024-05-06T07:08:09',
  comments_count: 2,
};

export const comment: CommentWire = {
  id: 99,
  kind: 'reply',
  status: null,
  likes_count: 1,
  created: '2024-05-07T08:09:10.123456Z',
  highlighted: false,
  internal: true,
  content: 'Mine too.',
  post: { id: 42, title: 'Dark mode', url: '/b/ideas/dark-mode' },
  creator: user,
};
