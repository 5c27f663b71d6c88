import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { ENDPOINTS } from '../../../src/contract/endpoints.ts';
import { openApiDocument } from '../../../src/http/replica/openapi.ts';
import { openReplica } from '../../contract-api/servers.ts';
import { AS_USER, COMMENTS, CREATE, call, json, POSTS, type Reply } from '../../sandbox/client.ts';

type Document = ReturnType<typeof openApiDocument>;
type Operation = {
  operationId: string;
  responses: Record<string, { content: { 'application/json': { schema: { $ref: string } } } }>;
};

function operation(document: Document, path: string, method: 'get' | 'post'): Operation {
  const found = (document.paths as Record<string, Record<string, Operation>>)[path]?.[method];
  assert.ok(found, `${method} ${path}`);
  return found;
}

/** A schema of the document that stands on its own. */
function schemaOf(document: Document, { $ref }: { $ref: string }): z.ZodType {
  const text = JSON.stringify({ $ref, $defs: document.components.schemas });
  return z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
}

describe('the OpenAPI document', () => {
  it('has the operations of the contract and the row of the outbox, and no other', () => {
    const document = openApiDocument();
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const wanted = Object.values(ENDPOINTS).map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(new Set(listed), new Set([...wanted, 'GET /api/v1/outbox/{id}']));
    const names = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }: Operation) => operationId),
    );
    assert.equal(new Set(names).size, names.length);
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
    const check = (path: string, method: 'get' | 'post', reply: Reply): void => {
      const response = operation(document, path, method).responses[reply.status];
      assert.ok(response, `${method} ${path} answers ${reply.status}`);
      const parsed = schemaOf(document, response.content['application/json'].schema).safeParse(json(reply));
      assert.ok(parsed.success, `${method} ${path} ${reply.status}: ${parsed.error}`);
    };
    for (const target of [POSTS, `${POSTS}?search=report`, `${POSTS}?cursor=wrong`])
      check(POSTS, 'get', await call(api, target));
    check(COMMENTS, 'get', await call(api, COMMENTS));
    const post = { board: 'bugs', title: 'x', content: 'x' };
    const customer = { ...post, email: 'a@example.com', full_name: 'A' };
    for (const body of [post, {}]) check(CREATE, 'post', await call(api, CREATE, { body }));
    for (const body of [customer, post]) check(AS_USER, 'post', await call(api, AS_USER, { body }));
    check('/api/v1/outbox/{id}', 'get', await call(api, '/api/v1/outbox/1'));
    check('/api/v1/outbox/{id}', 'get', await call(api, '/api/v1/outbox/99'));

    const slow = await openReplica(t, { posts: 1 }, { isSending: false, waitMs: 10 });
    check(CREATE, 'post', await call(slow, CREATE, { body: post }));
  });

  it('would notice an answer that is not as described', () => {
    const document = openApiDocument();
    const page = schemaOf(document, { $ref: '#/components/schemas/PostPage' });
    assert.ok(page.safeParse({ next: null, previous: null, results: [] }).success);
    assert.ok(!page.safeParse({ next: null, results: [] }).success);
    assert.ok(!page.safeParse({ next: null, previous: null, results: [{ id: 1 }] }).success);
  });
});
