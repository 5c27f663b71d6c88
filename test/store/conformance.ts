import { describe } from 'node:test';
import { absences } from './conformance/absences.ts';
import { carried } from './conformance/carried.ts';
import { checkpoints } from './conformance/checkpoints.ts';
import { history } from './conformance/history.ts';
import { locks } from './conformance/locks.ts';
import { massDeletes } from './conformance/mass-deletes.ts';
import type { OpenMirror } from './conformance/mirror.ts';
import { pages } from './conformance/pages.ts';
import { quarantine } from './conformance/quarantine.ts';
import { status } from './conformance/status.ts';
import { storiesOn } from './conformance/story.ts';
import { text } from './conformance/text.ts';

/** What every store of a mirror must do, said through the seam alone. */
export function storeConformance(name: string, open: OpenMirror): void {
  const story = storiesOn(open);
  describe(`a mirror in ${name}`, () => {
    describe('pages', () => pages(story));
    describe('history', () => history(story));
    describe('what rows carry', () => carried(story));
    describe('evidence of absence', () => absences(story));
    describe('mass deletions', () => massDeletes(story));
    describe('checkpoints', () => checkpoints(story));
    describe('quarantine', () => quarantine(story));
    describe('locks', () => locks(story));
    describe('the text index', () => text(story));
    describe('status', () => status(story));
  });
}
