import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { createLine, type WaitingLine } from '../base/line.ts';
import { within } from '../base/timeout.ts';

/** What agents may ask of the mirror: one that runs in a loop must not hold up the service. */
export const AGENT_LIMITS = {
  callsAMinute: 120,
  /** From the moment it came in, whatever it waits for. */
  callMs: 15_000,
  /** Of one result, as JSON; it is sent as data and once more as text. */
  resultBytes: 48_000,
  /** Statements run for up to 5 s, each in a process of its own, and sums over the whole mirror one after the other: neither keeps a search waiting. */
  lanes: {
    reads: { atOnce: 4, waiting: 16 },
    sql: { atOnce: 2, waiting: 4 },
    reports: { atOnce: 1, waiting: 4 },
  },
} as const;

export type CallKind = keyof typeof AGENT_LIMITS.lanes;

export interface AgentLimits {
  callsAMinute: number;
  callMs: number;
  resultBytes: number;
  lanes: Record<CallKind, { atOnce: number; waiting: number }>;
}

/** Work, which ends when the signal says so: after its time, or when nobody waits for it any more. */
type Limited = <T>(
  lane: CallKind,
  gone: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/** Runs work within the limits; what is beyond them is refused in words that an agent can act on. */
export function limiter(clock: Clock, limits: AgentLimits): Limited {
  const begun: number[] = [];
  const line = (lane: CallKind): WaitingLine =>
    createLine(limits.lanes[lane].atOnce, limits.lanes[lane].waiting, tooMany);
  const lines = { reads: line('reads'), sql: line('sql'), reports: line('reports') };
  return async (lane, gone, work) => {
    const now = clock.monotonic();
    while (begun.length > 0 && now - (begun[0] ?? 0) >= 60_000) begun.shift();
    if (begun.length >= limits.callsAMinute) throw tooOften(limits.callsAMinute);
    begun.push(now);
    const late = new AbortController();
    const signal = AbortSignal.any([late.signal, gone]);
    return await within(limits.callMs, inTurn(lines[lane], signal, work), () => {
      const why = tooLong(limits.callMs);
      late.abort(why);
      return why;
    });
  };
}

/** A call that is answered late and cannot be stopped still runs, and counts until it has ended. */
async function inTurn<T>(
  line: WaitingLine,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  await line.enter(signal);
  try {
    return await work(signal);
  } finally {
    line.leave();
  }
}

function tooMany(under: number): AppError {
  return new AppError('throttled', `${under} such calls are under way already`, {
    hint: 'Make calls one after the other.',
  });
}

function tooOften(callsAMinute: number): AppError {
  return new AppError('throttled', `more than ${callsAMinute} calls in a minute`, {
    hint: 'Wait a minute; ask for more at once with a larger limit instead of many small calls.',
  });
}

function tooLong(ms: number): AppError {
  const hint = 'Ask for less: a shorter period, one board, a smaller limit.';
  return new AppError('interrupted', `this took longer than ${ms / 1000} s`, { hint });
}

/** An answer that can be gone on with: what it tells of the rest is made for the rows that fit into it. */
export class Paged {
  readonly rows: number;
  readonly page: (rows: number) => object;
  constructor(rows: number, page: (rows: number) => object) {
    this.rows = rows;
    this.page = page;
  }
}

/** The result with rows left out from the end of its longest list until it fits, and a sentence where that was needed. */
export function fitting(result: object | Paged, most: number): Record<string, unknown> {
  if (result instanceof Paged) return fittingPage(result, most);
  let fitted: Record<string, unknown> = { ...result };
  for (let bytes = sizeOf(fitted); bytes > most; bytes = sizeOf(fitted)) {
    const lists = Object.entries(fitted).filter((entry): entry is [string, unknown[]] =>
      Array.isArray(entry[1]),
    );
    const [name, list] = lists.sort((a, b) => sizeOf(b[1]) - sizeOf(a[1]))[0] ?? [];
    if (!name || !list || list.length === 0) throw tooLarge();
    const kept = list.slice(0, Math.min(list.length - 1, Math.floor((list.length * most) / bytes)));
    fitted = { ...fitted, [name]: kept, cut: `${name} was cut to fit: ask for less at a time` };
  }
  return fitted;
}

/** With at least one row, as whoever goes on from a page without any would come back to it for ever. */
function fittingPage({ rows, page }: Paged, most: number): Record<string, unknown> {
  const whole = page(rows);
  if (sizeOf(whole) <= most) return { ...whole };
  const cut = (kept: number): Record<string, unknown> => ({
    ...page(kept),
    cut: 'the rest is on the next page',
  });
  let [fits, tooMany] = [0, rows];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (sizeOf(cut(middle)) <= most) fits = middle;
    else tooMany = middle;
  }
  if (fits === 0) throw tooLarge();
  return cut(fits);
}

function tooLarge(): AppError {
  return new AppError('usage', 'the answer is too large', { hint: 'Ask for less.' });
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
