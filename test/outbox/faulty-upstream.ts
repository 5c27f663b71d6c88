import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Random } from '../../src/sandbox/random.ts';

/** A post as this service made it, and the request that asked for it. */
export interface Made {
  id: number;
  board: string;
  title: string;
  content: string;
  email: string | null;
  /** Null for somebody else's. */
  by: 'us' | 'stranger' | 'owner by hand';
}

export const FAULTS = [
  'reset before the commit',
  'reset after the commit',
  '500 before the commit',
  '500 after the commit',
  '502 of a proxy',
  '504 after the commit',
  'a body that breaks off',
  'no answer for a minute',
] as const;
type Fault = (typeof FAULTS)[number];

export interface FaultyUpstream {
  url: string;
  made: Made[];
  faults: Map<string, number>;
  lists: number;
  searches: number;
  isDown: boolean;
  /** Share of creates that fail. */
  share: number;
  /** What the service makes of a text. */
  rewrite(text: { title: string; content: string }): { title: string; content: string };
  add(post: Omit<Made, 'id'>): Made;
}

const PAGE = 50;
const OWNER = { id: 1, email: 'owner@example.com', name: 'Olga Owner', is_admin: true, is_team: true };

/** A service of the documented API that fails in eight ways, written from the document and not from the program. */
export async function startFaulty(t: TestContext, random: Random): Promise<FaultyUpstream> {
  const people = new Map<string, number>();
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  const upstream: FaultyUpstream = {
    url: '',
    made: [],
    faults: new Map(),
    lists: 0,
    searches: 0,
    isDown: false,
    share: 0.15,
    rewrite: (text) => text,
    add(post) {
      const made = { id: 1000 + upstream.made.length * 2, ...post };
      upstream.made.push(made);
      created.set(made.id, new Date().toISOString());
      return made;
    },
  };
  const created = new Map<number, string>();
  const creatorOf = ({ email, by }: Made) => {
    if (email === null || by === 'owner by hand') return OWNER;
    people.set(email, people.get(email) ?? 100 + people.size);
    return { id: people.get(email), email, name: email.split('@')[0], is_admin: false, is_team: false };
  };
  const shown = (post: Made) => ({
    id: post.id,
    ...upstream.rewrite(post),
    url: `/p/${post.id}`,
    creator: { ...creatorOf(post), alias: null, registered: null },
    board: { id: post.board === 'ideas' ? 1 : 2, name: post.board, url: `/b/${post.board}` },
    status: { id: 1, name: 'Open', color: '#fff' },
    votes_count: (post.id * 7) % 5,
    comments_count: (post.id * 3) % 4,
    created: created.get(post.id),
  });
  const json = (response: ServerResponse, body: unknown, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const create = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Partial<Made>;
    const { board = '', title = '', content = '', email = null } = asked;
    const make = () => upstream.add({ board, title, content, email, by: 'us' });
    const fault: Fault | null = random.chance(upstream.share) ? random.pick(FAULTS) : null;
    if (fault) upstream.faults.set(fault, (upstream.faults.get(fault) ?? 0) + 1);
    const isMade = fault === null || /after|breaks|minute/.test(fault);
    const post = isMade ? make() : null;
    const body = { status: 'Success', post_id: post?.id, url: `${upstream.url}/p/${post?.id}` };
    if (fault === null) return json(response, body, 201);
    if (fault.startsWith('reset')) return void request.socket.destroy();
    if (fault.startsWith('500')) return json(response, { detail: 'oops' }, 500);
    if (fault === 'a body that breaks off') {
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': 500 });
      response.write('{"status":"Succ');
      return void setTimeout(20).then(() => request.socket.destroy());
    }
    if (fault === 'no answer for a minute') return void (await setTimeout(60_000, null, { ref: false }));
    response.writeHead(fault.startsWith('502') ? 502 : 504, { 'content-type': 'text/html' });
    response.end('<html>bad gateway</html>');
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (upstream.isDown) return void request.socket.destroy();
    const url = new URL(request.url ?? '', 'http://localhost');
    if (request.method === 'POST') return await create(request, response);
    if (url.pathname.includes('comments')) return json(response, { next: null, previous: null, results: [] });
    const newest = upstream.made.toReversed();
    const search = url.searchParams.get('search');
    if (search !== null) {
      upstream.searches++;
      const found = newest.filter(({ title, content }) => `${title} ${content}`.includes(search));
      return json(response, { next: null, previous: null, results: found.slice(0, 50).map(shown) });
    }
    upstream.lists++;
    const page = Number(url.searchParams.get('page') ?? 1);
    const results = newest.slice((page - 1) * PAGE, page * PAGE).map(shown);
    const next = page * PAGE < newest.length ? `${upstream.url}/api/v1/posts/?page=${page + 1}` : null;
    json(response, { next, previous: null, results });
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  upstream.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return upstream;
}
