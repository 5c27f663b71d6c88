import { ENDPOINTS, SEARCH_LIMIT, SEARCH_PARAMETER } from '../src/contract/endpoints.ts';
import * as entities from '../src/contract/entities.ts';
import { type FieldRule, isRow, type RowRule } from '../src/contract/entities.ts';
import { CURSOR, OUTBOX_PATH } from '../src/http/replica/operations.ts';
import { API_TOKEN_PARAMETER } from '../src/http/server/guard.ts';
import { CHANGE_TYPES } from '../src/mirror/log/change-log.ts';
import { OUTBOX_STATES } from '../src/outbox/decide/types.ts';

/** The API in OpenAPI 3.1. Its schemas are made from the contract's own, so the document cannot say anything else. */
export function openApiDocument() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posts and comments, from the mirror',
      version: '1',
      description:
        'The feedback API served from a local mirror, and its change feed. Lists and search show the copy as of its last sync. Creates go through the outbox to the upstream.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:8080' }],
    security: [{}, { bearer: [] }, { query: [] }],
    paths: paths(),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The HTTP_TOKEN, where one is set.' },
        query: {
          type: 'apiKey',
          in: 'query',
          name: API_TOKEN_PARAMETER,
          description: 'The same token, for the paths below /api/v1/. FEEDBACK_AUTH_PARAM adds another name.',
        },
      },
      schemas: schemas(),
    },
  };
}

const {
  USER_ROW,
  BOARD_ROW,
  STATUS_ROW,
  POST_ROW,
  POST_REFERENCE_ROW,
  COMMENT_ROW,
  NEW_POST_ROW,
  NEW_POST_AS_USER_ROW,
} = entities;
const CONTRACT: RowRule[] = [
  ...[USER_ROW, BOARD_ROW, STATUS_ROW, POST_ROW, POST_REFERENCE_ROW, COMMENT_ROW],
  ...[NEW_POST_ROW, NEW_POST_AS_USER_ROW],
];

function schemas(): Record<string, unknown> {
  return { ...Object.fromEntries(CONTRACT.map((row) => [row.name, rowSchema(row)])), ...OWN };
}

function rowSchema({ fields }: RowRule) {
  const schemaOf = (type: FieldRule | RowRule) => (isRow(type) ? ref(type.name) : type.schema);
  const members = Object.entries(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(([name, type]) => [name, schemaOf(type)])),
    required: members.flatMap(([name, type]) => (isRow(type) || !type.is(undefined) ? [name] : [])),
  };
}

function ref(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

const text = { type: 'string' };
const integer = { type: 'integer' };
const values = { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean', 'null'] } };
const orNull = (type: string) => ({ type: [type, 'null'] });

const CHANGED_IDS = [
  'post_id',
  'comment_id',
  'user_id',
  'board_id',
  'status_id',
  'outbox_id',
  'run_id',
] as const;
const CHANGED_ROWS = ['before', 'after', 'post', 'comment', 'outbox', 'sync'] as const;

const OWN = {
  PostPage: page('Post'),
  CommentPage: page('Comment'),
  Created: object({ status: { const: 'Success' }, post_id: integer, url: orNull('string') }),
  OutboxRow: object({
    id: integer,
    state: { enum: OUTBOX_STATES },
    attempts: integer,
    not_before: orNull('string'),
    post_id: orNull('integer'),
    url: orNull('string'),
    reason: orNull('string'),
    created_at: text,
    changed_at: text,
  }),
  Accepted: object({ detail: text, outbox: ref('OutboxRow') }),
  Change: {
    type: 'object',
    properties: {
      number: integer,
      position: text,
      type: { enum: CHANGE_TYPES },
      time: text,
      ...Object.fromEntries(CHANGED_IDS.map((name) => [name, integer])),
      ...Object.fromEntries(CHANGED_ROWS.map((name) => [name, values])),
    },
    required: ['number', 'position', 'type', 'time'],
  },
  ChangePage: object({
    mirror: { ...text, description: 'tells this mirror from every other' },
    position: { ...text, description: 'the position after the last change' },
    oldest: orNull('integer'),
    notMirrored: { type: 'array', items: text },
    changes: { type: 'array', items: ref('Change') },
    next: { ...text, description: 'what to send as "since" next' },
    more: { type: 'boolean' },
  }),
  Problem: {
    type: 'object',
    properties: {
      detail: text,
      errors: { type: 'object', additionalProperties: { type: 'array', items: text } },
    },
    required: ['detail'],
  },
};

function object(properties: Record<string, unknown>) {
  return { type: 'object', properties, required: Object.keys(properties) };
}

function page(of: string) {
  const link = { ...orNull('string'), description: 'absolute URL of another page, or null' };
  return object({ next: link, previous: link, results: { type: 'array', items: ref(of) } });
}

function paths() {
  const { listPosts, listComments, createPost, createPostAsUser } = ENDPOINTS;
  const search = parameter(
    SEARCH_PARAMETER,
    `text to search in title and content: then the ${SEARCH_LIMIT} most relevant posts as one flat list`,
  );
  const cursor = parameter(CURSOR, 'the place of a page, as next and previous have it');
  return {
    [listPosts.path]: {
      get: reading('listPosts', 'List or search posts', 'PostPage', [search, cursor]),
    },
    [listComments.path]: { get: reading('listComments', 'List comments', 'CommentPage', [cursor]) },
    [createPost.path]: {
      post: creating('createPost', 'Create a post as the owner of the token', 'NewPost'),
    },
    [createPostAsUser.path]: {
      post: creating('createPostAsUser', 'Create a post on behalf of a customer', 'NewPostAsUser'),
    },
    [`${OUTBOX_PATH}{id}`]: {
      get: {
        operationId: 'showOutboxRow',
        summary: 'What became of a create that was answered with 202',
        parameters: [{ name: 'id', in: 'path', required: true, schema: integer }],
        responses: {
          200: json('the row', 'OutboxRow'),
          404: json('there is no such row', 'Problem'),
          ...ERRORS,
        },
      },
    },
    ...changePaths(),
  };
}

/** The change feed is not part of the feedback API, so its token is in the header only. */
function changePaths() {
  const since = parameter('since', 'a position, a number, or "now"; from the oldest change unless given');
  const repeated = (name: string, description: string) => ({
    ...parameter(name, description),
    schema: { type: 'array', items: text },
    explode: true,
  });
  const filter = [
    repeated('type', 'types such as post.created, or groups such as post.*'),
    repeated('board', 'boards by name, short name or number'),
  ];
  const gone = json('the feed does not continue from this position: start again from a snapshot', 'Problem');
  const limit = {
    ...parameter('limit', 'how many changes'),
    schema: { ...integer, minimum: 1, maximum: 1000 },
  };
  const security = [{}, { bearer: [] }];
  const stream = {
    description: 'one event a change, with its position as id',
    content: { 'text/event-stream': {} },
  };
  return {
    '/api/changes': {
      get: {
        operationId: 'listChanges',
        summary: 'Changes after a position, oldest first',
        security,
        parameters: [since, limit, ...filter],
        responses: {
          200: json('changes', 'ChangePage'),
          400: json('a parameter is wrong', 'Problem'),
          410: gone,
          ...ERRORS,
        },
      },
    },
    '/api/changes/stream': {
      get: {
        operationId: 'streamChanges',
        summary: 'Changes as server-sent events, as they happen',
        security,
        parameters: [since, ...filter],
        responses: { 200: stream, 400: json('a parameter is wrong', 'Problem'), 410: gone, ...ERRORS },
      },
    },
  };
}

function parameter(name: string, description: string) {
  return { name, in: 'query', required: false, description, schema: text };
}

function json(description: string, schema: string) {
  return { description, content: { 'application/json': { schema: ref(schema) } } };
}

/** What every operation may answer. */
const ERRORS = {
  401: json('the token is missing or wrong', 'Problem'),
  421: json('the service is not known under the name in the header Host', 'Problem'),
  429: json('too many wrong tokens', 'Problem'),
  500: json('a defect; the log has more', 'Problem'),
  503: json('busy, closing, or the disk fails; Retry-After says when to try again', 'Problem'),
};

function reading(operationId: string, summary: string, schema: string, parameters: unknown[]) {
  const responses = {
    200: json('one page', schema),
    400: json('there is no such page', 'Problem'),
    ...ERRORS,
  };
  return { operationId, summary, parameters, responses };
}

function creating(operationId: string, summary: string, schema: string) {
  return {
    operationId,
    summary,
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description: 'the same key and post are taken once, however often they are sent',
        schema: { type: 'string', maxLength: 255 },
      },
    ],
    requestBody: { required: true, content: { 'application/json': { schema: ref(schema) } } },
    responses: {
      201: json('the upstream confirmed the post', 'Created'),
      202: json(
        'the post is safe in the outbox and not confirmed yet; Location tells where to ask',
        'Accepted',
      ),
      400: json('the post is not valid, or the upstream refused it', 'Problem'),
      409: json('somebody cancelled the row in the outbox', 'Problem'),
      422: json('the key belongs to another post, or the upstream refused the post', 'Problem'),
      403: json('the request comes from a page of another site', 'Problem'),
      413: json('the body is too large', 'Problem'),
      415: json('the body is not JSON', 'Problem'),
      ...ERRORS,
      '4XX': json('the upstream refused the post with this status of its own', 'Problem'),
    },
  };
}
