/**
 * The sandbox's list of posts from a file of ready pages, in a process of its own:
 *   node bench/frame/pages-server.ts POSTS LATENCY_MS FILE
 * The sandbox makes each page when it is asked, which takes longer than writing it down does: measured against it, a fast
 * program and a slow one look alike. The bytes and the links are the sandbox's own, as it writes them by default.
 * The first line of stdout is the address. It ends when its standard input does, so that it never outlives its starter.
 */
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readSlice } from '../../src/sandbox/listing.ts';
import { World } from '../../src/sandbox/world.ts';

const PAGE_SIZE = 100;
const PATH = '/api/v1/posts/';

const [posts = '', latencyMs = '', file = ''] = process.argv.slice(2);
if (!existsSync(file)) write(file, Number(posts));
serve(file, Number(latencyMs));

/** The rows of each page one after the other, and where each page ends; by key and not by offset, so a million takes a minute. */
function write(path: string, count: number): void {
  const world = new World({ posts: count });
  const draft = openSync(`${path}.writing`, 'w');
  const ends: number[] = [];
  let key: readonly number[] | null = null;
  for (let more = true; more; ) {
    const start = { key, back: false };
    const page = readSlice(world.db, { resource: 'posts', order: 'newest' }, start, PAGE_SIZE);
    ends.push((ends.at(-1) ?? 0) + writeSync(draft, JSON.stringify(page.rows)));
    key = page.lastKey;
    more = page.more;
  }
  closeSync(draft);
  world.close();
  writeFileSync(`${path}.ends`, JSON.stringify(ends));
  renameSync(`${path}.writing`, path);
}

function serve(path: string, delay: number): void {
  const ends = JSON.parse(readFileSync(`${path}.ends`, 'utf8')) as number[];
  const pages = openSync(path, 'r');
  const seen = { requests: 0, heldMs: 0 };
  const server = createServer({ keepAliveTimeout: 72_000 }, (request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    if (url.pathname === '/seen') return void response.end(JSON.stringify(seen));
    seen.requests++;
    const body = url.pathname === PATH ? page(pages, ends, url) : null;
    if (delay === 0) return answer(request, response, body);
    const since = performance.now();
    setTimeout(() => {
      seen.heldMs += performance.now() - since;
      answer(request, response, body);
    }, delay);
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object')
      process.stdout.write(`http://127.0.0.1:${address.port}\n`);
  });
  process.stdin.resume().once('end', () => process.exit());
}

function page(file: number, ends: readonly number[], url: URL): Buffer | null {
  const number = Number(url.searchParams.get('page') ?? 1);
  const end = ends[number - 1];
  if (end === undefined) return null;
  const start = ends[number - 2] ?? 0;
  const link = (to: number): string =>
    to < 1 || to > ends.length ? 'null' : `"${url.origin}${PATH}?page=${to}"`;
  const head = `{"next":${link(number + 1)},"previous":${link(number - 1)},"results":`;
  const body = Buffer.allocUnsafe(head.length + end - start + 1);
  body.write(head, 'latin1');
  readSync(file, body, head.length, end - start, start);
  body.write('}', body.length - 1);
  return body;
}

function answer(request: IncomingMessage, response: ServerResponse, body: Buffer | null): void {
  const isAllowed = request.headers.authorization === 'Bearer sandbox';
  const status = !isAllowed ? 401 : body === null ? 404 : 200;
  const sent = status === 200 && body !== null ? body : Buffer.from('{"detail":"No."}');
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': sent.length })
    .end(sent);
}
