import { ENDPOINTS, SEARCH_LIMIT, SEARCH_PARAMETER } from '../../contract/endpoints.ts';
import * as entities from '../../contract/entities.ts';
import { type Field, isRow, type Row } from '../../contract/entities.ts';
import { OUTBOX_STATES } from '../../store/outbox/types.ts';
import { CURSOR, OUTBOX_PATH } from './operations.ts';

/** The API in OpenAPI 3.1. Its schemas are made from the contract's own, so the document cannot say anything else. */
export function openApiDocument() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posts and comments, from the mirror',
      version: '1',
      description:
        'The feedback API served from a local mirror. Lists and search show the copy as of its last sync; creates go through the outbox to the upstream.',
    },
    security: [{}, { bearer: [] }],
    paths: paths(),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The HTTP_TOKEN, where one is set.' },
      },
      schemas: schemas(),
    },
  };
}

const { User, Board, Status, Post, PostReference, Comment, NewPost, NewPostAsUser } = entities;
const CONTRACT: Row[] = [User, Board, Status, Post, PostReference, Comment, NewPost, NewPostAsUser];

function schemas(): Record<string, unknown> {
  return { ...Object.fromEntries(CONTRACT.map((row) => [row.name, rowSchema(row)])), ...OWN };
}

function rowSchema({ fields }: Row) {
  const schemaOf = (type: Field | Row) => (isRow(type) ? ref(type.name) : type.schema);
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
const orNull = (type: string) => ({ type: [type, 'null'] });

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
        responses: { 200: json('the row', 'OutboxRow'), 404: json('there is no such row', 'Problem') },
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

function reading(operationId: string, summary: string, schema: string, parameters: unknown[]) {
  const responses = { 200: json('one page', schema), 400: json('there is no such page', 'Problem') };
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
      '4XX': json('the upstream refused the post with this status of its own', 'Problem'),
    },
  };
}
