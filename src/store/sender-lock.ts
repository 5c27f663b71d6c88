import { lockHolder, takeLock } from './lock.ts';
import type { Busy, Lock } from './mirror/types.ts';

/** Who may send: one process at a time, and a service before the commands that send for a while when there is none. */
export interface SenderLock {
  take(): Lock | Busy;
  takeFirst(): Lock | Busy;
  isWanted(): boolean;
  /** Gives up a place in the line. */
  leave(): void;
}

/** Two locks: the one that sends, and the place of the one that is next. Both are the kernel's, so the dead hold neither. */
export function senderLock({ path, holder }: { path: string; holder: string }): SenderLock {
  let place: Lock | null = null;
  const whose = (): string => `${holder}, since ${new Date().toISOString()}`;
  const take = (): Lock | Busy => takeLock(senderLockPath(path), whose());
  const leave = (): void => {
    place?.release();
    place = null;
  };
  return {
    take,
    takeFirst() {
      const lock = take();
      if (lock.ok) leave();
      else place ??= placeInLine(path, whose());
      return lock;
    },
    isWanted: () => place === null && lockHolder(nextPath(path)) !== null,
    leave,
  };
}

function placeInLine(path: string, holder: string): Lock | null {
  const place = takeLock(nextPath(path), holder);
  return place.ok ? place : null;
}

/** Whoever has this lock of a mirror sends. */
export function senderLockPath(mirror: string): string {
  return `${mirror}.sender.lock`;
}

function nextPath(path: string): string {
  return `${path}.sender-next.lock`;
}
