import { it } from 'node:test';
import type { Mirror, OpenMirror } from './mirror.ts';

export type Story = (name: string, play: (mirror: Mirror) => Promise<void>) => void;

/** Tests that each play on an empty mirror of their own, which must be whole at the end. */
export function storiesOn(open: OpenMirror): Story {
  return (name, play) => {
    it(name, async () => {
      const mirror = await open();
      try {
        await play(mirror);
      } finally {
        await mirror.dispose();
      }
    });
  };
}
