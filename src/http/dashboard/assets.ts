import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DOCS, ownFile } from '../../base/program.ts';
import { htmlText } from '../../text/text.ts';
import type { NotFoundPage } from '../server/replies.ts';

const FOLDER = fileURLToPath(ownFile('../../web/', import.meta.url));
/** Files of the chart package. The pages load nothing from other hosts. */
const CHARTS = ['uPlot.iife.min.js', 'uPlot.min.css'];
/** Modules of the packages themselves: what draws every page, and the editor, which the SQL page alone loads. */
const MODULES = [
  '@codemirror/autocomplete',
  '@codemirror/commands',
  '@codemirror/lang-sql',
  '@codemirror/language',
  '@codemirror/state',
  '@codemirror/streamparser',
  '@codemirror/view',
  '@lezer/common',
  '@lezer/highlight',
  '@lezer/lr',
  '@marijn/find-cluster-break',
  'crelt',
  'preact',
  'preact/hooks',
  'style-mod',
  'w3c-keyname',
];

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface Asset {
  type: string;
  plain: Buffer;
  packed: Buffer;
  etag: string;
}

interface AssetOptions {
  hasLogin: boolean;
  source: string;
  /** Below which address the pages are; empty where they are at the top. */
  mount?: string;
  /** Called when a browser loads a page, before the page asks for data. */
  onPage?: () => void;
}

/** The addresses of the pages, as the router spells them; each has its look in `src/web/main.ts`. */
export const PAGES = [
  '/',
  '/posts',
  '/posts/:id',
  '/reports',
  '/reports/:name',
  '/boards/:slug',
  '/people',
  '/people/:id',
  '/customers',
  '/companies/:name',
  '/rules',
  '/exports',
  '/settings',
  '/outbox',
  '/outbox/import',
  '/outbox/:id',
  '/sync',
  '/webhooks',
  '/queues',
  '/sql',
  '/ask',
] as const;
export type PageAddress = (typeof PAGES)[number];

/** The pages of the dashboard, all drawn by one document, and what that document loads. Returns how the document is sent. */
export function addAssets(
  app: FastifyInstance,
  { hasLogin, source, mount = '', onPage = () => undefined }: AssetOptions,
): NotFoundPage {
  const document = documentOf(source, hasLogin)
    .replace('<html', mount === '' ? '<html' : `<html data-mount="${mount}"`)
    // What the pages load is the same for all sources.
    .replaceAll(/href="\/(?!assets\/)/g, `href="${mount}/`);
  const index = pack('index.html', document);
  const sendIndex: NotFoundPage = (request, reply) => send(request, reply, index);
  for (const page of PAGES)
    app.get(page, (request, reply) => {
      onPage();
      return sendIndex(request, reply);
    });
  addDocuments(app);
  addAssetFiles(app);
  return sendIndex;
}

/** The page over all sources, in the same frame: its navigation are the sources. */
export function addPageOfAll(app: FastifyInstance, { hasLogin }: Pick<AssetOptions, 'hasLogin'>): void {
  const document = documentOf('All sources', hasLogin)
    .replace('<html', '<html data-all')
    .replace(/<nav .*<\/nav>/s, '<nav aria-label="Sources"></nav>')
    .replace('/assets/main.ts', '/assets/all.ts');
  const index = pack('index.html', document);
  app.get('/', (request, reply) => send(request, reply, index));
  addDocuments(app);
  addAssetFiles(app);
}

/** The documents that the pages link to, as they are in the package: a request never becomes a path. */
function addDocuments(app: FastifyInstance): void {
  app.get('/docs/:name', (request: FastifyRequest<{ Params: { name: string } }>, reply) => {
    const name = readdirSync(DOCS).find((one) => one === request.params.name && extname(one) === '.md');
    if (name === undefined) return reply.code(404).send({ detail: 'There is no such document.' });
    return reply.type('text/plain; charset=utf-8').send(readFileSync(new URL(name, DOCS), 'utf8'));
  });
}

function documentOf(source: string, hasLogin: boolean): string {
  return readFileSync(join(FOLDER, 'index.html'), 'utf8')
    .replace('<html', hasLogin ? '<html data-login' : '<html')
    .replace('{{source}}', () => htmlText(source));
}

/** What the document loads. */
function addAssetFiles(app: FastifyInstance): void {
  const find = packedFiles();
  // One route serves all files: with a route for each, the router took a twentieth of a start.
  app.get('/assets/*', (request: FastifyRequest<{ Params: { '*': string } }>, reply) => {
    const asset = find(request.params['*']);
    return asset ? send(request, reply, asset) : reply.code(404).send({ detail: 'There is no such file.' });
  });
}

function packedFiles(): (name: string) => Asset | null {
  const packed = new Map<string, Asset>();
  let known: ReturnType<typeof files> | undefined;
  return (name) => {
    known ??= files();
    const read = known.get(name);
    if (!read) return null;
    const asset = packed.get(name) ?? pack(name, read());
    packed.set(name, asset);
    return asset;
  };
}

/** Every file by the name it is asked for; a request never becomes a path. */
function files(): Map<string, () => string> {
  const own = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) in TYPES && name !== 'index.html')
    .map((name) => [name.replaceAll('\\', '/'), () => readFileSync(join(FOLDER, name), 'utf8')] as const);
  const charts = dirname(createRequire(import.meta.url).resolve('uplot'));
  return new Map([
    ...own,
    ...CHARTS.map((name) => [name, () => readFileSync(join(charts, name), 'utf8')] as const),
    ...MODULES.map((name) => [`modules/${name}.js`, () => readFileSync(moduleOf(name), 'utf8')] as const),
  ]);
}

function moduleOf(name: string): URL {
  return new URL(import.meta.resolve(name));
}

/** A browser knows no packages: what a module takes from one becomes the address under which that is served. */
function withAddresses(source: string): string {
  return source.replaceAll(
    /(?<=^|;)((?:import|export)\b[^;'"]*\bfrom ?)(['"])([^'"./][^'"]*)\2/gm,
    (whole, head, quote, name) =>
      MODULES.includes(name) ? `${head}${quote}/assets/modules/${name}.js${quote}` : whole,
  );
}

/** Comments at the beginning of a line are a sixth of what the first page weighs. Lines keep their numbers, which errors name. */
function withoutComments(source: string): string {
  return source.replaceAll(/^[ \t]*\/\*[\s\S]*?\*\//gm, (comment) => comment.replaceAll(/[^\n]/g, ''));
}

/**
 * The first page is made of small files, and each kB of it counts. The editor of the SQL page has 1.1 MB: quality 10 took 1.1 s of the
 * processor for it while every other request waited, quality 6 takes 0.06 s and makes it a tenth larger.
 */
function qualityFor({ length }: Buffer): number {
  return length > LARGE_BYTES ? 6 : 10;
}

const LARGE_BYTES = 64 * 1024;

function pack(name: string, text: string): Asset {
  const isOwn = ['.ts', '.css'].includes(extname(name));
  const typeless = extname(name) === '.ts' ? stripTypeScriptTypes(text) : text;
  const script = isOwn ? withoutComments(typeless) : typeless;
  // Compiled, our own modules end as those of the packages do.
  const isModule = ['.ts', '.js'].includes(extname(name)) && !CHARTS.includes(name);
  const plain = Buffer.from(isModule ? withAddresses(script) : script);
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    plain,
    packed: brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: qualityFor(plain) } }),
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
  };
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, plain, packed, etag }: Asset,
): FastifyReply {
  // The browser asks each time, and gets no body if the file is the same. So it sees a new version with the next load.
  reply.header('cache-control', 'no-cache').header('etag', etag).header('vary', 'accept-encoding').type(type);
  if (reply.statusCode === 200 && request.headers['if-none-match'] === etag) return reply.code(304).send();
  const accepted = request.headers['accept-encoding'] ?? '';
  if (!/\bbr\b/.test(String(accepted))) return reply.send(plain);
  return reply.header('content-encoding', 'br').send(packed);
}
