import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import fastify from 'fastify';
import { openApiDocument } from '../../../deploy/openapi.ts';
import { ENDPOINTS } from '../../../src/contract/endpoints.ts';
import { openReplica } from '../../contract-api/servers.ts';
import { AS_USER, COMMENTS, CREATE, call, json, POSTS, type Reply } from '../../sandbox/client.ts';

type Document = ReturnType<typeof openApiDocument>;
type Operation = {
  operationId: string;
  responses: Record<string, { content: { 'application/json': { schema: { $ref: string } } } }>;
};

function operation(document: Document, path: string, method: 'get' | 'post'): Operation {
  const found = (document.paths as unknown as Record<string, Record<string, Operation>>)[path]?.[method];
  assert.ok(found, `${method} ${path}`);
  return found;
}

/** What is wrong with a value by a schema of the document, told by the server's own JSON Schema validator; empty when nothing is. */
async function mismatch(document: Document, { $ref }: { $ref: string }, value: unknown): Promise<string> {
  const ajv = {
    customOptions: { coerceTypes: false, removeAdditional: false, allowUnionTypes: true },
  } as const;
  const app = fastify({ ajv });
  const text = JSON.stringify({ $ref, $defs: document.components.schemas });
  const body = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as object;
  app.post('/', { schema: { body } }, () => ({}));
  const reply = await app.inject({ method: 'POST', url: '/', payload: value as object });
  await app.close();
  return reply.statusCode === 200 ? '' : reply.body;
}

describe('the OpenAPI document', () => {
  it('has the operations of the contract, the row of the outbox and the change feed, and no other', () => {
    const document = openApiDocument();
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const wanted = Object.values(ENDPOINTS).map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(
      new Set(listed),
      new Set([...wanted, 'GET /api/v1/outbox/{id}', 'GET /api/changes', 'GET /api/changes/stream']),
    );
    const names = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods as unknown as Record<string, Operation>).map(({ operationId }) => operationId),
    );
    assert.equal(new Set(names).size, names.length);
  });

  it('is OpenAPI 3.1 by its own schema', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(openApiDocument())));
    assert.ok(valid, JSON.stringify(errors));
  });

  it('refers to nothing that it does not have', () => {
    const document = openApiDocument();
    const text = JSON.stringify(document);
    const known = Object.keys(document.components.schemas);
    for (const [, name = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
      assert.ok(known.includes(name), name);
    assert.doesNotMatch(text, /"\$ref":"(?!#\/components\/schemas\/)/);
  });

  it('describes every answer that is given', async (t) => {
    const api = await openReplica(t, { posts: 20, pageSize: 5 });
    const document = json<Document>(await call(api, '/api/v1/openapi.json'));
    assert.equal(document.openapi, '3.1.0');
    const check = async (path: string, method: 'get' | 'post', reply: Reply): Promise<void> => {
      const response = operation(document, path, method).responses[reply.status];
      assert.ok(response, `${method} ${path} answers ${reply.status}`);
      const { schema } = response.content['application/json'];
      assert.equal(await mismatch(document, schema, json(reply)), '', `${method} ${path} ${reply.status}`);
    };
    for (const target of [POSTS, `${POSTS}?search=report`, `${POSTS}?cursor=wrong`])
      await check(POSTS, 'get', await call(api, target));
    await check(COMMENTS, 'get', await call(api, COMMENTS));
    const post = { board: 'bugs', title: 'x', content: 'x' };
    const customer = { ...post, email: 'a@example.com', full_name: 'A' };
    for (const body of [post, {}]) await check(CREATE, 'post', await call(api, CREATE, { body }));
    for (const body of [customer, post]) await check(AS_USER, 'post', await call(api, AS_USER, { body }));
    await check('/api/v1/outbox/{id}', 'get', await call(api, '/api/v1/outbox/1'));
    await check('/api/v1/outbox/{id}', 'get', await call(api, '/api/v1/outbox/99'));

    const slow = await openReplica(t, { posts: 1 }, { isSending: false, waitMs: 10 });
    await check(CREATE, 'post', await call(slow, CREATE, { body: post }));
  });
});
