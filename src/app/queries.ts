import type { Settings } from '../../config/load.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import { limitQueries, type QueryPart, type QueryRequest } from '../query/run.ts';
import { refuseTooManySources } from '../query/together.ts';
import { mirrorOf } from './place.ts';

export type AskMirror = (
  ask: Omit<QueryRequest, 'path'>,
  signal?: AbortSignal,
) => AsyncGenerator<QueryPart, void, undefined>;

/** SQL from people on the mirror: each statement in a process of its own, at most so many at the same time. */
export function openQueries(settings: Settings, atOnce: number): AskMirror {
  const run = limitQueries(atOnce);
  const { path } = mirrorOf(settings);
  openMirrorReadOnly(mirrorOf(settings)).close();
  return (ask, signal) => run({ ...ask, path }, signal);
}

/** SQL on the mirrors of several sources at once. */
export function openQueriesTogether(all: readonly Settings[]): AskMirror {
  refuseTooManySources(all);
  const path = all.map((settings) => {
    openMirrorReadOnly(mirrorOf(settings)).close();
    return { name: settings.source ?? '', path: mirrorOf(settings).path };
  });
  const run = limitQueries(1);
  return (ask, signal) => run({ ...ask, path }, signal);
}
