import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import pino from 'pino';
import { runCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { printed } from './support/leaks.ts';
import { clientOf, DRAFT, failureOf, startUpstream } from './support/upstream.ts';

const PERSON = 'ada.lovelace@example.com';
const TEXT = `${PERSON} wrote this`;

const send =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(body);
  };

/** Answers that begin with a person's address, or have it in a place that messages like to show. */
const ANSWERS: Record<string, (response: ServerResponse) => void> = {
  '200 that is no JSON': send(200, TEXT),
  '200 that is another JSON': send(200, JSON.stringify({ [PERSON]: PERSON, next: PERSON, results: PERSON })),
  '302 to a path': send(302, TEXT, { location: `https://ada:pw@login.example/${PERSON}` }),
  '302 to a query': send(302, TEXT, { location: `https://login.example/?user=${PERSON}` }),
  '400': send(400, TEXT),
  '401': send(401, JSON.stringify({ detail: TEXT })),
  '404 with an odd content type': send(404, TEXT, { 'content-type': PERSON }),
  '429': send(429, TEXT),
  '502': send(502, `<h1>${TEXT}</h1>`),
  'a body that is cut': (response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write(TEXT, () => response.destroy());
  },
};

async function scene(t: TestContext, answer: (response: ServerResponse) => void) {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const upstream = await startUpstream(t, (_, response) => answer(response));
  return { lines, client: clientOf(t, upstream.url, { log, retry: { attempts: 2 } }) };
}

function assertSilent(...things: unknown[]): void {
  for (const thing of things) assert.doesNotMatch(printed(thing), /ada|lovelace|wrote/i);
}

describe('what an upstream sent', () => {
  for (const [name, answer] of Object.entries(ANSWERS)) {
    it(`is in no error, outcome or log line: ${name}`, async (t) => {
      const { lines, client } = await scene(t, answer);
      for (const read of [
        () => client.page('posts', ''),
        () => client.page('comments', ''),
        () => client.search('x'),
      ])
        assertSilent(await failureOf(read()));
      assertSilent(await client.create(DRAFT), lines);
    });
  }

  it('is told by its status, content type, size and hash', async (t) => {
    const { client } = await scene(t, send(400, TEXT));
    const described = /answered 400 \(text\/plain, 35 bytes, sha256 [0-9a-f]{12}\)/;
    assert.match(String(await failureOf(client.page('posts', ''))), described);
    assert.match(JSON.stringify(await client.create(DRAFT)), described);
  });

  it('is in nothing that a sync prints, and not in the table of its runs', async (t) => {
    const folder = folderFor(t, 'personal');
    const upstream = await startUpstream(t, (_, response) => send(400, TEXT)(response));
    const env = { FEEDBACK_BASE_URL: upstream.url, FEEDBACK_API_TOKEN: 'token', LOG_LEVEL: 'debug' };
    const { stdout, stderr } = await runCli(['sync', 'posts'], { cwd: folder, env });
    assertSilent(stdout, stderr);
    const db = new Database(join(folder, 'data/mirror.db'), { readonly: true });
    const errors = db.prepare('SELECT error FROM sync_runs').pluck().all();
    db.close();
    assertSilent(errors);
    assert.match(String(errors), /answered 400 \(text\/plain, 35 bytes/);
  });

  it('is in no message about a cursor or a `next`', async (t) => {
    const away = { next: `https://ada.elsewhere.example/${PERSON}?${PERSON}`, results: [] };
    const first = await scene(t, send(200, JSON.stringify(away)));
    const error = await failureOf(first.client.page('posts', ''));
    assertSilent(error);
    assert.match(String(error), /leads away/);
    const second = await scene(t, send(404, '{}'));
    assertSilent(await failureOf(second.client.page('posts', `after=${PERSON}`)));
    assertSilent(await failureOf(second.client.page('posts', `after=${PERSON}#`)));
  });

  it('is quoted for a create alone that was rejected: its own words about the fields go with the row', async (t) => {
    const body = {
      detail: 'Not created.',
      errors: { email: [`${PERSON} is blocked`], n: 5 },
      board: ['unknown'],
    };
    const { client, lines } = await scene(t, send(422, JSON.stringify(body)));
    const outcome = await client.create(DRAFT);
    assert.equal(
      'reason' in outcome ? outcome.reason : '',
      `the upstream answered 422: Not created. board: unknown; email: ${PERSON} is blocked`,
    );
    assertSilent(lines);
  });
});
