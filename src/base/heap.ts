import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const ENOUGH_BYTES = 16 * 1024 * 1024;
const LOOK_MS = 20;

/**
 * A sweep or an import makes a little garbage at a time, for hours perhaps, and V8 answers by letting the space for new objects
 * grow to over 100 MB, which makes it no faster. The entry of the program keeps it at the 1 MB it begins with, for loading the
 * program alone would grow it to 64 MB; with so little a sweep takes 5 to 8 % longer. So it may grow to 16 MB from here on. Not in the
 * service, which would keep them for good.
 */
export function keepHeapFlat(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
  const look = setInterval(() => {
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    if (space && space.space_size < ENOUGH_BYTES) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    clearInterval(look);
  }, LOOK_MS).unref();
}

/**
 * What loading and the first passes leave, 8 MB of code and data that are not used again, V8 would keep until the heap has grown by much
 * more. This is the one collection that also moves objects together and gives pages back.
 */
export function compactHeap(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

const QUIET_LOOK_MS = 5000;
const QUIET_SHARE = 0.02;

/** Does it after the first five seconds in which the thread had next to nothing to do: nobody is to wait for work that can wait. */
export function onceQuiet(work: () => void, busyShare: () => number = busyShareSinceLast()): void {
  const look = setInterval(() => {
    if (busyShare() > QUIET_SHARE) return;
    clearInterval(look);
    work();
  }, QUIET_LOOK_MS).unref();
}

function busyShareSinceLast(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const before = last;
    last = performance.eventLoopUtilization();
    return performance.eventLoopUtilization(last, before).utilization;
  };
}

const GROWN_BYTES = 4 * 1024 * 1024;
const GROWN_LOOK_MS = 250;

/**
 * For a program that waits for calls most of its life and is to stay small beside others: what a call leaves V8 would let grow to twice the
 * heap before it collects it, 20 MB after a hundred searches. A collection takes about as long as a search, once in so many of them.
 */
export function keepHeapSmall(
  used = (): number => getHeapStatistics().used_heap_size,
  collect: () => void = compactHeap,
): void {
  let kept = 0;
  setInterval(() => {
    // A collection in the middle of a large call keeps what that call holds; V8 may have freed it since.
    kept = Math.min(kept, used());
    if (used() < kept + GROWN_BYTES) return;
    collect();
    kept = used();
  }, GROWN_LOOK_MS).unref();
}
