/** The lists that can be walked page by page. */
export const RESOURCES = ['posts', 'comments'] as const;
export type Resource = (typeof RESOURCES)[number];

/** The five operations of the API. Paths are relative to the base URL, trailing slash included. */
export const ENDPOINTS = {
  listPosts: { method: 'GET', path: '/api/v1/posts/' },
  searchPosts: { method: 'GET', path: '/api/v1/posts/' },
  createPost: { method: 'POST', path: '/api/v1/posts/create/' },
  createPostAsUser: { method: 'POST', path: '/api/v1/posts/create/as-user/' },
  listComments: { method: 'GET', path: '/api/v1/comments/' },
} as const;

export type Operation = keyof typeof ENDPOINTS;

/** What can come of one attempt to create a post. */
export const CREATE_OUTCOMES = [
  'confirmed',
  'rejected',
  'throttled',
  'unauthorised',
  'not-sent',
  'unknown',
] as const;
export type CreateOutcomeName = (typeof CREATE_OUTCOMES)[number];

/** The name of the query parameter that turns the posts list into a search. */
export const SEARCH_PARAMETER = 'search';

/** A search answers with the most relevant posts as one flat list, never more than this. */
export const SEARCH_LIMIT = 50;
