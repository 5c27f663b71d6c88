import { existsSync, lstatSync, realpathSync } from 'node:fs';
import type { Settings } from '../../config/load.ts';
import type { OpenOptions } from '../store/db.ts';

/** The name under which a mirror of the built-in sandbox knows its upstream; its port is another one each time. */
const SANDBOX = 'the built-in sandbox';

export function mirrorOf({
  mirrorPath,
  dataDir,
  baseUrl,
  pushSettle,
}: Settings): Required<Omit<OpenOptions, 'cacheKb'>> {
  const upstream = baseUrl ? baseUrl.href.replace(/\/+$/, '') : SANDBOX;
  return { path: fileOf(mirrorPath), upstream, dataDir, settleMs: pushSettle };
}

/** Locks and what else stands beside a mirror have its name: one file has one name, also where a link leads to it. */
function fileOf(path: string): string {
  const isLink = existsSync(path) && lstatSync(path).isSymbolicLink();
  return isLink ? realpathSync(path) : path;
}

export function holder(purpose: string): string {
  return `process ${process.pid} (${purpose})`;
}

/** A command that prints its own result is quiet unless something is wrong or the person asked for more. */
export function quietLevel({ logLevel: level, sources }: Settings): string {
  return sources.logLevel === 'default' ? 'warn' : level;
}
