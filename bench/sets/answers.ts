import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { checkUp } from '../../src/upkeep/checkup.ts';
import { feedbackMirror, measured } from '../frame/child.ts';
import { median } from '../frame/numbers.ts';
import { interleaved } from '../frame/repeat.ts';
import type { Bench, BenchSet, Row } from '../frame/set.ts';
import { type LargeMirror, largeMirror } from '../large-mirror.ts';
import { type ServiceProcess, startServiceProcess } from '../service.ts';
import { zipfLanguage } from '../words.ts';

const POSTS = 1_000_000;
const CUSTOMERS = 2000;
const RESTING_MS = 20;
const [PAGE_MS, SEARCH_MS, EXAMPLE_MS, DOCTOR_MS] = [300, 150, 500, 3000];
const SQL_PAGE = join(import.meta.dirname, '../../docs/sql.md');

/** What a page asks the service, and how long people are to wait for it. */
interface Question {
  path: string;
  most: number;
  body?: object;
}

/** What an answer took: to its last byte, and of the processor in the service. */
interface Taken {
  ms: number;
  cpuMs: number;
}

/** What people ask of a large mirror, each from a service of its own that was started and has come to rest. */
export const answersSet: BenchSet = {
  name: 'answers',
  about: 'The first answer of each kind after the start: pages, reports, searches, doctor, docs/sql.md.',
  sizes: '1,000,000 posts in words of Zipf frequency, as many comments, a year of history, 2,000 customers',
  run,
};

async function run(bench: Bench): Promise<Row[]> {
  const mirror = await largeMirror(bench, bench.scale(POSTS));
  await importCustomers(bench, mirror);
  const wanted = new RegExp(process.env.BENCH_ANSWERS ?? '');
  const questions = questionsOf().filter(({ path }) => wanted.test(path));
  const cpu = questions.map((): number[] => []);
  const contenders = questions.map((question, i) => ({
    name: nameOf(question),
    run: async () => {
      const { ms, cpuMs } = await askFirst(bench, mirror, question);
      cpu[i]?.push(cpuMs);
      bench.say(`${cpuMs} ms of processor time`);
      return ms;
    },
  }));
  const doctor = { name: 'checkUp(mirror)', run: async () => checkUp(mirror).ms };
  // Every service is a new one.
  const values = await interleaved(bench, [...contenders, doctor], { warmUp: false });
  const row = (name: string, ms: number[] = [], most: number, note?: string): Row => ({
    row: name,
    ours: { name, command: name, unit: 'ms', values: ms },
    peer: null,
    figure: median(ms),
    bound: { is: 'at most', value: most, unit: 'ms' },
    ...(note === undefined ? {} : { note }),
  });
  return [
    ...questions.map((question, i) =>
      row(
        nameOf(question),
        values[i],
        question.most,
        `${Math.round(median(cpu[i] ?? []))} ms of processor time.`,
      ),
    ),
    row('what doctor looks at in the mirror', values.at(-1), DOCTOR_MS),
  ];
}

function nameOf({ path, body }: Question): string {
  return `${path}${body === undefined ? '' : ` ${JSON.stringify(body).replaceAll('\\n', ' ').slice(0, 80)}`}`;
}

/** A service that was started, and has read ahead what it reads ahead, sends a page with its scripts, as to a browser, and is asked once. */
async function askFirst(bench: Bench, { env }: LargeMirror, { path, body }: Question): Promise<Taken> {
  const folder = mkdtempSync(join(bench.folder, 'answers-'));
  const quiet = { SYNC_HEAD_EVERY: 'off', SYNC_SWEEP_EVERY: '30d' };
  const service = await startServiceProcess({ ...env, ...quiet, DATA_DIR: join(folder, 'data') });
  try {
    await service.ready();
    await rest(service);
    await loadPage(service.url);
    // The page of a search stands there when somebody types.
    if (path.includes('?search=')) await (await fetch(`${service.url}/data/posts`)).text();
    const [began, cpu] = [performance.now(), service.cpuMs()];
    const sent = body && { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(body) };
    const response = await fetch(`${service.url}${path}`, sent);
    const isFile = path.includes('.csv');
    const text = isFile ? await firstOf(response) : await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 500)}`);
    return { ms: performance.now() - began, cpuMs: service.cpuMs() - cpu };
  } finally {
    await service.stop();
  }
}

/** Until it has used next to no processor time for a second. */
async function rest({ cpuMs }: ServiceProcess): Promise<void> {
  for (let before = 0, now = cpuMs(); now - before > RESTING_MS; now = cpuMs()) {
    before = now;
    await setTimeout(1000);
  }
}

/** A page and its scripts. A browser asks for each as soon as another one names it. */
async function loadPage(url: string): Promise<void> {
  const known = new Set(['/posts']);
  for (const path of known) {
    const text = await (await fetch(`${url}${path}`)).text();
    const named = text.matchAll(/<script[^>]* src="([^"]+)"|\bfrom ?['"]([^'"]+)['"]/g);
    for (const [, script, module] of named)
      known.add(new URL(script ?? module ?? '', `${url}${path}`).pathname);
  }
}

const JSON_HEADERS = { 'content-type': 'application/json' };

/** Of a file the first bytes: a person sees that it comes. */
async function firstOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(first?.value);
}

function questionsOf(): Question[] {
  const { words } = zipfLanguage();
  const [first = '', second = '', third = ''] = words;
  const middling = words.slice(200, 800).filter((_, i) => i % 100 === 0);
  const page = (path: string, body?: object): Question => ({ path, most: PAGE_MS, ...(body && { body }) });
  const search = (text: string, more = ''): Question => ({
    path: `/data/posts?search=${encodeURIComponent(text)}${more}`,
    most: SEARCH_MS,
  });
  const report = (name: string, ...more: string[]): Question[] =>
    ['', ...more].map((query) => page(`/data/reports/${name}${query}`));
  const title = `${middling.join(' ')} ${first}`;
  return [
    ...['', '?since=31d', '?since=365d', '?since=30d&against=year', '?board=bugs', '?segment=plan%3DPro'].map(
      (query) => page(`/data/overview${query}`),
    ),
    ...['newest', 'oldest', 'votes', 'comments', 'changed'].map((sort) => page(`/data/posts?sort=${sort}`)),
    page('/data/posts?since=365d&sort=comments'),
    page('/data/posts?status=Planned&sort=votes'),
    page('/data/posts?board=bugs&status=Planned'),
    page('/data/posts?segment=plan%3DPro'),
    page('/data/posts?creator=user17%40example.com'),
    page('/data/posts?creator=user17'),
    page('/data/posts?votes=50'),
    page('/data/posts?deleted=only'),
    page('/data/posts.csv?status=Planned&sort=votes'),
    page('/data/posts/links?status=Planned'),
    page('/data/posts/500000'),
    page('/data/boards/bugs'),
    ...['', '?sort=last', '?sort=name', '?search=17', '?id=17', '?email=user17%40example.com'].map((query) =>
      page(`/data/people${query}`),
    ),
    page('/data/companies?name=Company%207'),
    ...['/data/outbox', '/data/sync', '/data/segments', '/data/segments/choices', '/data/reports'].map(
      (path) => page(path),
    ),
    ...report('top-posts', '?board=bugs', '?closed=1'),
    ...report('gaining-posts', '?since=365d', '?since=30d&against=previous'),
    ...report('climbers', '?since=365d', '?board=bugs'),
    page('/data/reports/post-votes?post=500000'),
    ...report('unanswered', '?board=bugs'),
    ...report('stale', '?since=90d'),
    ...report('overview', '?since=30d&against=year'),
    ...report('votes', '?since=365d'),
    ...report('new-by-week', '?since=365d'),
    ...report('boards'),
    ...report('funnel', '?segment=plan%3DPro'),
    ...report('time-in-status', '?by=board', '?since=365d', '?since=30d&by=board&against=previous'),
    ...report('delivered', '?since=30d&against=previous'),
    ...report('shipped', '?since=365d'),
    ...report('customers', '?since=365d', '?since=30d&against=previous'),
    ...report('requests'),
    ...report('segments', '?by=company'),
    ...report('demand', '?segment=plan%3DPro'),
    ...report('first-reply', '?by=board', '?since=30d&by=board&against=previous'),
    ...report('sync-health'),
    search(words[300] ?? ''),
    search(first),
    search(`${first} ${second}`),
    search(`${first} ${second} ${third} `),
    search(middling.join(' ')),
    search(`"${first} ${third}"`),
    search(`"${middling[0]} ${first}"`),
    search(`${middling[0]} ${middling[1]?.slice(0, 3)}`),
    search(first.slice(0, 2)),
    search(`${first} ${second}`, '&board=bugs'),
    search(middling[2] ?? '', '&sort=votes&status=Planned'),
    search(`${first} nowordlikethis`),
    search('#500000'),
    { ...page('/data/posts/500000/similar'), most: SEARCH_MS },
    { ...page('/data/similar', { title, content: '' }), most: SEARCH_MS },
    { ...page('/data/similar', { title, content: words.slice(100, 200).join(' ') }), most: SEARCH_MS },
    ...examples().map((sql) => ({ ...page('/data/query', { sql }), most: EXAMPLE_MS })),
  ];
}

function examples(): string[] {
  return [...readFileSync(SQL_PAGE, 'utf8').matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql);
}

/** Two customers in a hundred people. */
async function importCustomers(bench: Bench, { env, posts }: LargeMirror): Promise<void> {
  const file = join(bench.folder, 'customers.csv');
  const people = Math.max(20, posts / 10);
  const lines = Array.from({ length: Math.min(CUSTOMERS, people) }, (_, i) => {
    const user = 1 + Math.floor((i * people) / CUSTOMERS);
    return `user${user}@example.com,Company ${i % 100},${['Pro', 'Team', 'Free'][i % 3]},${10 * (i % 50)}\n`;
  });
  writeFileSync(file, `email,company,plan,mrr\n${lines.join('')}`);
  await measured(feedbackMirror(['segments', 'import', file], env));
}
