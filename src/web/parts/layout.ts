import { useId } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { number, time } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';

/** Heading of a page, with what can be chosen on its right. */
export function pageHead(title: string, lead: Child, ...tools: Child[]): VNode {
  return h('div.head', h('div', h('h1', { dir: 'auto' }, title), h('p.lead', lead)), ...tools);
}

export interface CardOptions {
  title: string;
  /** Where there is more about it. */
  href?: string;
  note?: Child;
  size?: 'third' | 'half' | 'two-thirds' | 'whole';
  tone?: Tone;
}

/** A box with a heading; a region that can be jumped to. */
export function card(options: CardOptions, ...content: Child[]): VNode {
  return h(Card, options, ...content);
}

function Card({ title, href, note, size = 'whole', tone, children }: CardOptions & { children?: Child }) {
  const id = useId();
  return h(
    'section.card',
    { class: size, 'aria-labelledby': id, 'data-tone': tone ?? null },
    h(
      'header',
      h('h2', { id, dir: 'auto' }, href === undefined ? title : h('a', { href }, title)),
      note ? h('p', note) : null,
    ),
    children,
  );
}

export type Tone = 'good' | 'warn' | 'bad';

export function banner(tone: Tone | 'plain', ...content: Child[]): VNode {
  return h('div.banner', { 'data-tone': tone, role: tone === 'bad' ? 'alert' : 'status' }, ...content);
}

/** What went wrong, in its own words. */
export function failure(error: unknown): VNode {
  return banner('bad', messageOf(error));
}

/** One word about something, in the colour that it deserves. */
export function tag(text: Child, tone: Tone | null = null): VNode {
  return h('span.tag', { 'data-tone': tone }, text);
}

/** A status or board with the colour it has upstream. */
export function swatched(text: Child, color: string | null | undefined): Child {
  return color === undefined ? text : h('span.pill', { dir: 'auto', style: swatch(color) }, text);
}

/** What the upstream gave as a colour; anything that is none is ignored. */
export function swatch(color: string | null | undefined): Record<string, string> {
  return color && /^#[0-9a-f]{3,8}$/i.test(color) ? { '--swatch': color } : {};
}

/** Names and values; a text keeps its lines. */
export function facts(pairs: [name: string, value: Child][]): VNode {
  return h(
    'dl.facts',
    ...pairs.flatMap(([name, value]) => [h('dt', name), h('dd.text', { dir: 'auto' }, value)]),
  );
}

/** A number and what it counts. */
export function figure(value: string, name: string): VNode {
  return h('div.figure', h('b', value), h('span', name));
}

/** A moment in the reader's format; how long ago, where that is what people want to know, with the moment in its title. */
export function timeTag(iso: string, shown?: string, zone?: string): VNode {
  const title = time(iso, zone);
  return h('time', { datetime: iso, title }, shown ?? title);
}

interface Paging {
  /** Where the first row of the page stands in the list, from 1. */
  from: number;
  rows: number;
  /** Null where it is not counted. */
  total: { rows: number; isMore: boolean } | null;
  previous: string | null;
  next: string | null;
}

/** `51–100 of 717`, and the ways to the pages beside this one. */
export function pager({ from, rows, total, previous, next }: Paging): VNode | null {
  if (rows === 0 || (previous === null && next === null)) return null;
  const to = (id: string, href: string | null, text: string): VNode | null =>
    href === null ? null : h('a.button', { id, href }, text);
  const all = total === null ? '' : ` of ${total.isMore ? 'more than ' : ''}${number(total.rows)}`;
  return h(
    'nav.pager',
    { 'aria-label': 'List pages' },
    h('span.note', `${number(from)}–${number(from + rows - 1)}${all}`),
    to('previous-page', previous, 'Previous page'),
    to('next-page', next, 'Next page'),
  );
}
