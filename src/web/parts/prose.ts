import { type Child, h, type Props, type VNode } from '../h.ts';
import { excerpt, linksIn } from '../text.ts';

/** A post of this mirror by its title. */
export function postLink(id: number, title: string, attributes: Props<'a'> = {}, most = 90): VNode {
  const text = excerpt(title, most) || '(no title)';
  return h('a', { dir: 'auto', href: `/posts/${id}`, title, ...attributes }, text);
}

/** An address, which is broken before its host where it is too long for its place. */
export function emailText(email: string): Child {
  const at = email.indexOf('@') + 1;
  return [email.slice(0, at), h('wbr'), email.slice(at)];
}

/** A link to another host in a window of its own. An address that is none of the web's stays text. */
export function outward(url: string | null, text: Child): Child {
  if (url === null || !/^https?:\/\//i.test(url)) return text;
  return h('a', { href: url, target: '_blank', rel: 'noopener noreferrer nofollow' }, text);
}

/** A text as somebody wrote it: its own lines and direction, and web addresses that can be followed. */
export function prose(text: string): VNode {
  return h('p.text', { dir: 'auto' }, ...linksIn(text).map(({ text: piece, href }) => outward(href, piece)));
}
