import { type Child, h } from './dom.ts';

/** A link to another host in a window of its own. An address of the upstream that is none of the web's stays text. */
export function outward(url: string | null, text: Child): Child {
  if (url === null || !/^https?:\/\//i.test(url)) return text;
  return h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, text);
}
