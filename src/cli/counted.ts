import type { Resource } from '../contract/resources.ts';

/** `1 post`, `30 comments`, `1,200 posts`. */
export function counted(n: number, resource: Resource): string {
  return `${n.toLocaleString('en')} ${n === 1 ? resource.slice(0, -1) : resource}`;
}
