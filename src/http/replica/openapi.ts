import { z } from 'zod';
import { ENDPOINTS, SEARCH_LIMIT, SEARCH_PARAMETER } from '../../contract/endpoints.ts';
import * as entities from '../../contract/entities.ts';
import { OUTBOX_STATES } from '../../store/outbox/types.ts';
import { OUTBOX_PATH } from './creating.ts';
import { CURSOR } from './reading.ts';

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

const CONTRACT = {
  User: entities.User,
  Board: entities.Board,
  Status: entities.Status,
  Post: entities.Post,
  PostReference: entities.PostReference,
  Comment: entities.Comment,
  NewPost: entities.NewPost,
  NewPostAsUser: entities.NewPostAsUser,
};

const DATE_TIME = "ISO 8601 date and time, in the upstream's own spelling";
/** What the API's own description says about fields, and no schema can. */
const NOTES: Record<string, Record<string, string>> = {
  User: {
    registered: DATE_TIME,
    is_admin: 'true when the user is a company admin',
    is_team: 'true when the user is a company team member',
  },
  Board: { url: 'relative URL of the board' },
  Status: { color: 'hexadecimal colour' },
  Post: { url: 'relative URL of the post', created: DATE_TIME },
  PostReference: { url: 'relative URL of the post' },
  Comment: { kind: '"reply" for a reply', status: 'null for an ordinary reply', created: DATE_TIME },
  NewPost: { board: 'the short part of the board URL' },
  NewPostAsUser: {
    board: 'the short part of the board URL',
    email: 'e-mail address of the customer',
    full_name: 'name of the customer, for one who is new',
  },
};

function schemas(): Record<string, unknown> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(CONTRACT)) registry.add(schema, { id });
  const made = Object.entries(z.toJSONSchema(registry, { uri: schemaRef }).schemas);
  return { ...Object.fromEntries(made.map(([id, schema]) => [id, described(id, schema)])), ...OWN };
}

function described(
  id: string,
  { $schema: _s, $id: _i, properties = {}, ...rest }: z.core.JSONSchema.BaseSchema,
) {
  const noted = Object.entries(properties).map(([name, schema]) => {
    const description = NOTES[id]?.[name];
    return [name, description === undefined ? schema : { ...Object(schema), description }];
  });
  return { ...rest, properties: Object.fromEntries(noted) };
}

function schemaRef(name: string): string {
  return `#/components/schemas/${name}`;
}

function ref(name: string): { $ref: string } {
  return { $ref: schemaRef(name) };
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
