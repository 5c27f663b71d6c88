import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fixture } from '../fixture.ts';
import { NO_BOARD, type Wanted } from './drafts.ts';

const READS = ['/api/v1/posts/', '/api/v1/comments/', '/api/v1/posts/?search=export', '/healthz', '/metrics'];
const ANSWERS = 'the HTTP side answers reads with 200, or not at all';

/** Reads of the API the program serves. A service that is dead or frozen does not answer; one that answers answers well. */
export async function readOverHttp({ service, tally }: Fixture, until: AbortSignal): Promise<void> {
  for (let n = 0; !until.aborted; n++) {
    const path = READS[n % READS.length] ?? '';
    try {
      const answer = await fetch(`${service.url}${path}`, { signal: AbortSignal.timeout(5000) });
      const text = await answer.text();
      tally.check(ANSWERS, answer.status === 200, () => `${path}: ${answer.status} ${text.slice(0, 300)}`);
    } catch {
      // Nobody there.
    }
    await delay(200);
  }
}

/** So that the lists of a long run stay as short as those of a short one, and a sweep comes through between two faults. */
const MOST_CREATES = 3000;

/** Creates over HTTP, each with a key, sent again until somebody says it is safe: as a careful client would. */
export async function createOverHttp(fixture: Fixture, until: AbortSignal): Promise<void> {
  const posting = new Set<Promise<void>>();
  const everyMs = Math.max(350, (fixture.options.minutes * 60_000) / MOST_CREATES);
  while (!until.aborted) {
    if (posting.size < 12) {
      const one = post(fixture, fixture.drafts.draft(), until).finally(() => posting.delete(one));
      posting.add(one);
    }
    await delay(everyMs);
  }
  await Promise.all(posting);
}

async function post({ service, drafts, tally }: Fixture, draft: Wanted, until: AbortSignal): Promise<void> {
  const key = randomUUID();
  const { email, full_name, ...own } = draft;
  const path = email === null ? '/api/v1/posts/create/' : '/api/v1/posts/create/as-user/';
  const body = JSON.stringify(email === null ? own : { ...own, email, full_name });
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  while (!until.aborted) {
    try {
      const signal = AbortSignal.timeout(40_000);
      const answer = await fetch(`${service.url}${path}`, { method: 'POST', headers, body, signal });
      const said = await answer.text();
      const isRefused = answer.status === 400 && draft.board === NO_BOARD;
      if ([201, 202].includes(answer.status) || isRefused) {
        drafts.accepted([draft], `HTTP ${answer.status}`);
        return;
      }
      // While its disk fails it cannot take anything in, and says so; what came in half while it was frozen is too late, and is sent again.
      const isLater = answer.status >= 500 || answer.status === 408;
      tally.check('a create over HTTP is taken in, or refused with a reason', isLater, () =>
        `${answer.status} ${said.slice(0, 300)}`.trim(),
      );
    } catch {
      // Cut off, or nobody there: the key makes it safe to ask again.
    }
    await delay(300);
  }
}
