import { Worker } from 'node:worker_threads';
import type { PgQueryResult } from 'bullmq';
import { messageOf } from '../base/errors.ts';
import { within } from '../base/within.ts';
import { isBreakdown, SessionLost } from './breakdown.ts';
import type { Answer, Failure, Notification, Question, Result, ThreadOptions } from './pglite-messages.ts';
import { watchSilence } from './silence.ts';

/** How long the database may be silent while something waits for its answer. */
export interface Patience {
  /** With a question of a queue or worker, which take milliseconds. */
  stuckMs: number;
  /** While it is opened: to make a folder takes three to six seconds on an idle machine. */
  openMs: number;
}

interface Waiting {
  patienceMs: number;
  resolve(answer: Result): void;
  reject(error: Error): void;
}

/** A service has ten seconds to stop; the next start gets over a database that was not closed. */
const CLOSE_MS = 1000;

/**
 * One run of PGlite, from its start until it is closed or lost, in a thread of its own. In the thread of the service it would hold
 * up everything else, for seconds when its folder is made and for some milliseconds at every job; and only a thread can be ended
 * when it does not answer any more.
 */
export class PgliteSession {
  /** The database stands. */
  readonly ready: Promise<void>;
  /** Why it is of no more use; settles also when it was closed. */
  readonly lost: Promise<SessionLost>;
  readonly #thread: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #lose = Promise.withResolvers<SessionLost>();
  readonly #silence = watchSilence((ms) => void this.kill(`no answer for ${ms / 1000} s`));
  readonly #stuckMs: number;
  #end: Promise<unknown> | null = null;
  #lastId = 0;

  constructor(options: ThreadOptions, { stuckMs, openMs }: Patience) {
    this.#stuckMs = stuckMs;
    this.lost = this.#lose.promise;
    this.#thread = new Worker(new URL('./pglite-thread.ts', import.meta.url), { workerData: options });
    this.#thread
      .on('error', (error) => void this.kill(messageOf(error)))
      .on('exit', () => void this.kill('its thread ended'))
      .on('message', (answer: Answer) => {
        if (!('channel' in answer)) this.#settle(answer);
      });
    // The thread's first word, under the number that no question has.
    this.ready = this.#answerTo(0, openMs).then(() => undefined);
  }

  /** All questions share one session of PostgreSQL, and are answered one after the other. */
  async query<R>(
    text: string,
    params?: readonly unknown[],
    patienceMs = this.#stuckMs,
  ): Promise<PgQueryResult<R>> {
    return (await this.#post(text, params, patienceMs)) as PgQueryResult<R>;
  }

  onNotification(listener: (notification: Notification) => void): void {
    this.#thread.on('message', (answer: Answer) => {
      if ('channel' in answer) listener(answer);
    });
  }

  /** Gently if it answers soon. Nobody uses the folder afterwards. */
  async close(): Promise<void> {
    const closed = this.#post(null, undefined, this.#stuckMs).catch(() => undefined);
    await within(CLOSE_MS, closed, () => undefined);
    await this.kill('it is closed');
  }

  /** At once, whatever it is doing. Nobody uses the folder afterwards. */
  async kill(reason: string): Promise<void> {
    this.#end ??= this.#endNow(reason);
    await this.#end;
  }

  #endNow(reason: string): Promise<unknown> {
    this.#silence.expect(null);
    const ended = this.#thread.terminate();
    this.#lose.resolve(new SessionLost(reason, false));
    for (const [place, { reject }] of [...this.#waiting.values()].entries())
      reject(new SessionLost(reason, place === 0));
    this.#waiting.clear();
    return ended;
  }

  async #post(
    text: string | null,
    params: readonly unknown[] | undefined,
    patienceMs: number,
  ): Promise<Result> {
    if (this.#end !== null) throw new SessionLost('it is closed', false);
    const question: Question = { id: ++this.#lastId, text, ...(params ? { params: [...params] } : {}) };
    this.#thread.postMessage(question);
    return await this.#answerTo(question.id, patienceMs);
  }

  #answerTo(id: number, patienceMs: number): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.set(id, { patienceMs, resolve, reject });
    if (this.#waiting.size === 1) this.#watchOldest();
    return promise;
  }

  /** Questions are answered in their order: the oldest is the one it works on. */
  #watchOldest(): void {
    const [oldest] = this.#waiting.values();
    this.#silence.expect(oldest?.patienceMs ?? null);
  }

  #settle(answer: Result | Failure): void {
    if (this.#end !== null) return;
    const isFailure = 'message' in answer;
    if (isFailure && isBreakdown(answer)) return void this.kill(answer.message);
    const asked = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    this.#watchOldest();
    if (isFailure) asked?.reject(Object.assign(new Error(answer.message), answer.facts));
    else asked?.resolve(answer);
  }
}
