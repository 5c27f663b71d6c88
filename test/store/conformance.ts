import { describe } from 'node:test';
import { carried } from './conformance/carried.ts';
import { history } from './conformance/history.ts';
import type { OpenMirror } from './conformance/mirror.ts';
import { pages } from './conformance/pages.ts';
import { storiesOn } from './conformance/story.ts';

/** What every store of a mirror must do, said through the seam alone. */
export function storeConformance(name: string, open: OpenMirror): void {
  const story = storiesOn(open);
  describe(`a mirror in ${name}`, () => {
    describe('pages', () => pages(story));
    describe('history', () => history(story));
    describe('what rows carry', () => carried(story));
  });
}
