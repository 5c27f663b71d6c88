/** Follows one exchange and aborts it when it takes too long in all, stands still, or is no longer wanted. */
export interface Watch {
  readonly signal: AbortSignal;
  /** Bytes arrived. */
  progress(): void;
  /** Which limit was hit, as a clause; null when none was. */
  expired(): string | null;
  stop(): void;
}

export interface WatchLimits {
  totalMs: number;
  idleMs: number | null;
}

export function watch({ totalMs, idleMs }: WatchLimits, parent: AbortSignal | undefined): Watch {
  const controller = new AbortController();
  let expired: string | null = null;
  let steps = 0;
  const expire = (clause: string): void => {
    expired ??= clause;
    controller.abort(new Error(clause));
  };
  const idle = idleMs === null ? null : idleTimer(idleMs, () => steps, expire);
  const total = setTimeout(() => expire(`it was not complete after ${seconds(totalMs)}`), totalMs);
  const unlink = follow(parent, controller);
  return {
    signal: controller.signal,
    progress() {
      steps += 1;
      idle?.refresh();
    },
    expired: () => expired,
    stop() {
      clearTimeout(total);
      idle?.stop();
      unlink();
    },
  };
}

/**
 * A process that was busy for longer than the limit finds its timer due before it gets to read what has long arrived.
 * So the verdict waits for one round of the event loop, and for the bytes that round may bring.
 */
function idleTimer(idleMs: number, steps: () => number, expire: (clause: string) => void) {
  let verdict: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    const before = steps();
    verdict = setImmediate(() => {
      if (steps() === before) expire(`nothing arrived for ${seconds(idleMs)}`);
    });
  }, idleMs);
  return {
    refresh: () => timer.refresh(),
    stop() {
      clearTimeout(timer);
      clearImmediate(verdict);
    },
  };
}

/** Aborts `controller` with its parent's reason; returns how to let go, as a parent may live for weeks. */
export function follow(parent: AbortSignal | undefined, controller: AbortController): () => void {
  if (parent === undefined) return () => {};
  const abort = (): void => controller.abort(parent.reason);
  if (parent.aborted) abort();
  else parent.addEventListener('abort', abort, { once: true });
  return () => parent.removeEventListener('abort', abort);
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}
