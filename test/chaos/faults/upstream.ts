import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../src/sandbox/random.ts';
import { type FaultKind, type FaultRule, KINDS } from '../../laboratory/fault-kinds.ts';
import { type Fixture, LATE_COMMIT_MS, LATE_LIST_MS } from '../fixture.ts';
import { rounds, streamOf } from '../plan.ts';

const ALL = Object.keys(KINDS) as FaultKind[];
/** Unclear creates and silent omissions all the time, so that each meets every way for the upstream to be. */
const BACKGROUND: FaultRule[] = [
  { kind: 'status-after', p: 0.1 },
  { kind: 'missing-row', p: 0.01, row: 'any' },
];
/** How long a kind waits for a request that it can spoil. */
const PATIENCE_MS = 6000;

/** One kind of upstream trouble after the other, each until it has fired. */
export async function troubleUpstream(fixture: Fixture, until: AbortSignal): Promise<void> {
  const { sandbox, journal } = fixture;
  const random = streamOf(fixture.options.seed, 'upstream');
  for (const { card } of rounds(ALL, random)) {
    while (fixture.isHushed() && !until.aborted) await delay(50);
    if (until.aborted) break;
    const rules = rulesFor(card, random);
    const before = sandbox.faults.fired()[card] ?? 0;
    sandbox.faults.set([...BACKGROUND, { kind: 'latency', ms: 5 + random.int(40), p: 0.3 }, ...rules]);
    const hasFired = (): boolean => (sandbox.faults.fired()[card] ?? 0) > before;
    const end = performance.now() + PATIENCE_MS;
    while (!hasFired() && performance.now() < end && !fixture.isHushed() && !until.aborted) await delay(50);
    journal.note(`upstream ${card}${hasFired() ? '' : ' found nothing to spoil'}`);
    // Room for a sweep to come through now and then: an upstream that always fails shows nothing but retries.
    sandbox.faults.set('');
    await delay(500 + random.int(1500));
  }
  sandbox.faults.set('');
}

export function upstreamCounts({ sandbox }: Fixture): Map<string, number> {
  const fired = sandbox.faults.fired();
  return new Map(ALL.map((kind) => [`upstream: ${kind}`, fired[kind] ?? 0]));
}

/**
 * A list that lies the same way twice in a row shows a post to be absent that is there: nobody can see through that, so each lie is
 * told once. Refused tokens on creates have an incident of their own, as they stop all sending until the next probe.
 */
function rulesFor(kind: FaultKind, random: Random): FaultRule[] {
  const times = 1 + random.int(3);
  switch (kind) {
    case 'latency':
      return [{ kind, ms: 500, times: 4 }];
    case 'throttle':
      return [{ kind, times: 1, retryAfter: 1, form: random.pick(['seconds', 'date', 'none', 'garbage']) }];
    case 'status':
    case 'status-after':
      return [{ kind, times, code: random.pick([500, 502, 503, 504]), echo: random.chance(0.5) }];
    case 'unauthorised':
    case 'forbidden':
      return [{ kind, on: 'lists', times: 1 }];
    case 'hang':
    case 'hang-after':
      return [{ kind, times, ms: 700 }];
    case 'late-commit':
      return [{ kind, times, ms: LATE_COMMIT_MS, answer: random.pick(['status', 'reset']) }, lateList(times)];
    case 'late-visible':
      return [lateList(times)];
    case 'stale':
      // Posts lag less than an unclear send settles; comments for as long as it takes to find a request, which is a sweep or two.
      return [
        { kind, on: 'posts', p: 0.5, ms: LATE_LIST_MS },
        { kind, on: 'comments', p: 0.5 },
      ];
    case 'missing-row':
      return [{ kind, times, row: 'any' }];
    case 'drip':
      return [{ kind, times, ms: 5, bytes: 500 }];
    case 'redirect':
      return [{ kind, times, code: random.pick([301, 302, 307, 308]) }];
    default:
      return [{ kind, times: 1 }];
  }
}

function lateList(times: number): FaultRule {
  return { kind: 'late-visible', times, ms: LATE_LIST_MS };
}
