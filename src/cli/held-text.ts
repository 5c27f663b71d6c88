import type { ResourceStatus } from '../mirror/decide/types.ts';
import { counted } from '../text/text.ts';

/** What the mass-delete guard keeps of one list, and what to do about it; nothing where it keeps none. */
export function heldText({ resource, held }: Pick<ResourceStatus, 'resource' | 'held'>): string[] {
  if (held === 0) return [];
  const what = `${counted(held, resource.slice(0, -1))} ${held === 1 ? 'seems' : 'seem'} to be gone upstream`;
  return [
    `${what}, together with many others or with all there were: held, not deleted. ` +
      `If that is right, run "feedback-mirror sync ${resource} --accept-deletes".`,
  ];
}
