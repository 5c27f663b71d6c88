import { gzipSync } from 'node:zlib';
import type { Operation } from '../../src/contract/endpoints.ts';
import { jsonAnswer, type SandboxAnswer, textAnswer } from '../../src/sandbox/answer.ts';
import type { ListPage } from '../../src/sandbox/service.ts';
import type { FaultRule } from './fault-kinds.ts';
import type { ActiveRule } from './faults.ts';

/** Beyond 2^53: whoever parses it as a JSON number has another id in hand. */
const HUGE_ID = '9007199254740993';
const HUGE_ID_MARK = 'the huge id goes here';
const AWAY = 'http://127.0.0.1:9/elsewhere/?page=2';
const MEBIBYTE = 1024 * 1024;

type Row = Record<string, unknown>;

/** Does to a page what the rule says; false when there is nothing on it to do that to. */
export function spoilPage(page: ListPage, active: ActiveRule, operation: Operation): boolean {
  const { rule } = active;
  const { envelope, position } = page;
  switch (rule.kind) {
    case 'null-results':
      envelope.results = null;
      return true;
    case 'empty':
      envelope.results = [];
      envelope.next = null;
      return true;
    case 'truncated':
      if (envelope.next === null) return false;
      envelope.next = null;
      return true;
    case 'no-next':
      delete envelope.next;
      return true;
    case 'next-loop':
      envelope.next = page.link(earlier(position, rule.back ?? 0));
      return true;
    case 'next-away':
      envelope.next = rule.target ?? AWAY;
      return true;
    case 'next-shape':
      envelope.next = rule.value === undefined ? {} : rule.value;
      return true;
    case 'same-page':
      repeat(page, active, operation);
      return true;
    default:
      return spoilRow(envelope.results ?? [], active);
  }
}

function earlier(position: ListPage['position'], back: number): ListPage['position'] {
  const { start, limit } = position;
  if ('offset' in start) return { ...position, start: { offset: Math.max(0, start.offset - back * limit) } };
  return back === 0 ? position : { start: { key: null, back: false }, limit };
}

/** Always the rows of the first time, under a `next` that was never seen before. */
function repeat({ envelope, position, link }: ListPage, active: ActiveRule, operation: Operation): void {
  const rows = active.repeated.get(operation) ?? envelope.results ?? [];
  active.repeated.set(operation, rows);
  envelope.results = [...rows];
  const { start, limit, salt = 0 } = position;
  envelope.next = link(
    'offset' in start ? { start: { offset: start.offset + limit }, limit } : { start, limit, salt: salt + 1 },
  );
}

function spoilRow(rows: unknown[], { rule, random }: ActiveRule): boolean {
  const at = rule.row === 'any' ? random.int(rows.length) : (rule.row ?? Math.floor((rows.length - 1) / 2));
  const row = rows[at] as Row | undefined;
  if (row === undefined) return false;
  if (rule.kind === 'missing-row') rows.splice(at, 1);
  else if (rule.kind === 'duplicate-row') rows.splice(at + 1, 0, row);
  else if (rule.kind === 'huge-id') rows[at] = { ...row, id: HUGE_ID_MARK };
  else rows[at] = withWrongType(row, (rule.field ?? 'created').split('.'));
  return true;
}

function withWrongType(row: Row, [field = '', ...deeper]: string[]): Row {
  const value = row[field];
  const inner = deeper.length > 0 && typeof value === 'object' && value !== null;
  return { ...row, [field]: inner ? withWrongType(value as Row, deeper) : wrong(value) };
}

function wrong(value: unknown): unknown {
  if (typeof value === 'string') return 12345;
  return typeof value === 'number' ? 'not a number' : ['not', 'this', 'type'];
}

/** The JSON of a page, with an id no JavaScript number can hold where one was asked for. */
export function withHugeId(json: string): string {
  return json.replace(`"${HUGE_ID_MARK}"`, HUGE_ID);
}

/** Does to a finished answer what the rule says. */
export function spoilBody(answer: SandboxAnswer, rule: FaultRule): SandboxAnswer {
  switch (rule.kind) {
    case 'bad-json':
      return { ...answer, body: answer.body.subarray(0, Math.floor((answer.body.length * 2) / 3)) };
    case 'html':
      return textAnswer(200, '<!doctype html><title>Sign in</title><p>Please sign in.</p>\n', 'text/html');
    case 'not-envelope':
      return jsonAnswer(200, { data: { items: [] }, page: 1 });
    case 'bad-utf8':
      return { ...answer, body: withBadByte(answer.body) };
    case 'bomb':
      return { ...answer, headers: { ...answer.headers, 'content-encoding': 'gzip' }, body: bomb() };
    case 'big':
      return { ...answer, body: padded(17 * MEBIBYTE), uncompressed: true };
    case 'headers':
      return { ...answer, headers: { ...answer.headers, ...longHeaders() } };
    default:
      return misencoded(answer, rule.name ?? 'x-unknown');
  }
}

/** 0xFF is no part of any UTF-8 text. It goes to the start of the first string value. */
function withBadByte(body: Buffer): Buffer {
  const value = body.indexOf('":"');
  const [at, bytes] =
    value >= 0 ? [value + 3, Buffer.from([0xff])] : [1, Buffer.from('"x":"\xff",', 'latin1')];
  return Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]);
}

/** A valid, empty envelope with a lot of white space in it. */
function padded(bytes: number): Buffer {
  const body = Buffer.alloc(bytes, ' ');
  body.write('{"next":null,"previous":null,"results":[');
  body.write(']}', bytes - 2);
  return body;
}

let packed: Buffer | undefined;

/** 32 MiB in some 32 KB: about 1000:1. Packed once, because that takes a tenth of a second. */
function bomb(): Buffer {
  packed ??= gzipSync(padded(32 * MEBIBYTE));
  return packed;
}

/** Twenty lines of a kilobyte: more than the 16 KB that HTTP clients take. */
function longHeaders(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`x-padding-${n}`, 'x'.repeat(1024)]));
}

/** Claims an encoding; `gzip` is really applied as often as it is named, anything else is only claimed. */
function misencoded(answer: SandboxAnswer, name: string): SandboxAnswer {
  const times = name.split(',').filter((part) => part.trim().toLowerCase() === 'gzip').length;
  let body = answer.body;
  for (let n = 0; n < times; n++) body = gzipSync(body);
  return { ...answer, headers: { ...answer.headers, 'content-encoding': name }, body };
}
