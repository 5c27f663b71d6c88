import type { Settings } from '../../config/load.ts';
import { makeFolder } from '../base/files.ts';
import { closeAfter } from '../db/sql.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import { openBrowseReads } from '../search/browse/browse.ts';
import { openSegmentStore, type SegmentStore, type SegmentsState, segmentsState } from '../segments/store.ts';
import { openToldStore, type ToldStore } from '../segments/told.ts';
import { refuseOutsideLease } from './lease.ts';
import { holder, mirrorOf, SERVICE } from './place.ts';

/** The imported customers, for writing. */
export function openSegments(settings: Settings, purpose: string): SegmentStore {
  if (purpose !== SERVICE) refuseOutsideLease(settings);
  makeFolder(settings.dataDir);
  return openSegmentStore({ ...mirrorOf(settings), holder: holder(purpose) });
}

/** Who was told of what was delivered. */
export function openToldPeople(settings: Settings): ToldStore {
  return openToldStore(mirrorOf(settings));
}

/** Posts of customers, for reading. */
export function openBrowsing(settings: Settings): ReturnType<typeof openBrowseReads> {
  return openBrowseReads(mirrorOf(settings));
}

/** The imported customers, for reading. */
export function viewSegments(settings: Settings): SegmentsState {
  return closeAfter(openMirrorReadOnly(mirrorOf(settings)), segmentsState);
}
