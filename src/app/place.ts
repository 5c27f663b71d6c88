import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { type SettingLine, type Settings, settingLines } from '../../config/load.ts';
import type { OpenOptions } from '../db/open.ts';

/** The name under which a mirror of the built-in sandbox knows its upstream; its port is another one each time. */
const SANDBOX = 'the built-in sandbox';

export function mirrorOf({ mirrorPath, dataDir, baseUrl, pushSettle }: Settings): Required<OpenOptions> {
  return { path: fileOf(mirrorPath), upstream: upstreamOf(baseUrl), dataDir, settleMs: pushSettle };
}

/** The mirror of a program that has no settings. */
export function mirrorAt({ file, baseUrl }: { file: string; baseUrl?: string }): OpenOptions {
  return { path: fileOf(file), upstream: upstreamOf(baseUrl === undefined ? null : new URL(baseUrl)) };
}

function upstreamOf(baseUrl: URL | null): string {
  return baseUrl ? baseUrl.href.replace(/\/+$/, '') : SANDBOX;
}

/** Files beside a mirror, such as locks, begin with its name. A mirror has one name, also through links. */
function fileOf(path: string): string {
  const isLink = existsSync(path) && lstatSync(path).isSymbolicLink();
  return isLink ? realpathSync(path) : path;
}

/** The purpose for which the service opens a store for its pages. The pages themselves say where the source runs on another machine. */
export const SERVICE = 'start';

export function holder(purpose: string): string {
  return `process ${process.pid} (${purpose})`;
}

/** A command that prints its own result is quiet unless something is wrong or the person asked for more. */
export function quietLevel({ logLevel: level, origins }: Settings): string {
  return origins.logLevel === 'default' ? 'warn' : level;
}

/** The effective settings as people read them, secrets masked. */
export function describeSettings(settings: Settings): SettingLine[] {
  return settingLines(settings);
}
