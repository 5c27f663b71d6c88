import type { Settings } from '../../config/load.ts';
import { closeAfter } from '../db/sql.ts';
import { openMirror, openMirrorReadOnly } from '../mirror/file/open.ts';
import { driftObserver } from '../rules/drift.ts';
import { type DriftRow, driftText } from '../rules/letter.ts';
import { mirrorOf } from './place.ts';

export interface DriftWatch {
  /** Looks once; returns how many fields changed since the look before. */
  observe(now: number): number;
  close(): void;
}

export function openDriftWatch(settings: Settings): DriftWatch {
  const db = openMirror(mirrorOf(settings));
  db.pragma('cache_size = -500');
  return { observe: driftObserver(db), close: () => void db.close() };
}

interface ShownDrift extends DriftRow {
  text: string;
}

/** Fields of the API that changed, the newest first. */
export function viewDrifts(settings: Settings): ShownDrift[] {
  return closeAfter(openMirrorReadOnly(mirrorOf(settings)), (db) =>
    db
      .prepare<[], DriftRow>('SELECT * FROM drifts ORDER BY n DESC LIMIT 100')
      .all()
      .map((row) => ({ ...row, text: driftText(row) })),
  );
}
