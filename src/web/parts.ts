import { messageOf } from './api.ts';
import { type Attributes, type Child, fill, h } from './dom.ts';
import { number, time } from './format.ts';
import { excerpt, linksIn } from './text.ts';

/** Heading of a page, with what can be chosen on its right. */
export function pageHead(title: string, lead: Child, ...tools: Child[]): HTMLElement {
  return h('div.head', h('div', h('h1', { dir: 'auto' }, title), h('p.lead', lead)), ...tools);
}

interface CardOptions {
  title: string;
  /** Where there is more about it. */
  href?: string;
  note?: Child;
  size?: 'third' | 'half' | 'two-thirds' | 'whole';
}

let cards = 0;

/** A box with a heading; a region that can be jumped to. */
export function card({ title, href, note, size = 'whole' }: CardOptions, ...content: Child[]): HTMLElement {
  const id = `card-${++cards}`;
  return h(
    'section',
    { class: `card ${size}`, 'aria-labelledby': id },
    h(
      'header',
      h('h2', { id }, href === undefined ? title : h('a', { href }, title)),
      note ? h('p', note) : null,
    ),
    ...content,
  );
}

export interface Column<T> {
  head: string;
  /** Numbers stand on the right. */
  kind?: 'number' | 'wide' | 'quiet' | 'title';
  cell(row: T): Child;
}

/** A table that scrolls sideways on its own where it is too wide. */
export function table<T>(
  columns: Column<T>[],
  rows: readonly T[],
  label: string,
  empty: Child = 'Nothing here.',
): HTMLElement {
  if (rows.length === 0) return h('p.empty', empty);
  const head = columns.map(({ head: text, kind }) =>
    h('th', { scope: 'col', class: kind === 'number' ? 'number' : null }, text),
  );
  const body = rows.map((row) =>
    h(
      'tr',
      ...columns.map(({ kind, cell }) =>
        h('td', { class: kind ?? null, dir: kind === 'number' ? null : 'auto' }, cell(row)),
      ),
    ),
  );
  return h(
    'div.scroll',
    { role: 'region', 'aria-label': `${label}, as a table`, tabindex: 0 },
    h(
      'table',
      columns.some(({ head: text }) => text !== '') && h('thead', h('tr', ...head)),
      h('tbody', ...body),
    ),
  );
}

/** A card that is a table, under the name of the card. */
export function tableCard<T>(
  options: CardOptions,
  columns: Column<T>[],
  rows: readonly T[],
  empty?: Child,
): HTMLElement {
  return card(options, table(columns, rows, options.title, empty));
}

export interface Bar {
  label: Child;
  value: number;
  /** The value in words, where the number alone would say nothing: a duration, a share. */
  text?: string;
  /** What the upstream gave as a colour; anything that is none is ignored. */
  color?: string | null;
  href?: string;
}

/** Amounts side by side; a table, so that it reads as one. */
export function bars(rows: readonly Bar[], label: string): HTMLElement {
  // Shares are below 1: the largest is the whole length, and not 1.
  const most = Math.max(0, ...rows.map(({ value }) => value)) || 1;
  return table<Bar>(
    [
      {
        head: '',
        cell: ({ label: text, href, color }) =>
          swatched(h('span.bar-label', { dir: 'auto' }, href ? h('a', { href }, text) : text), color),
      },
      {
        head: '',
        kind: 'wide',
        cell: ({ value, color }) =>
          h('span.bar', {
            'aria-hidden': 'true',
            vars: { width: `${(100 * value) / most}%`, ...swatch(color) },
          }),
      },
      { head: '', kind: 'number', cell: ({ value, text }) => text ?? number(value) },
    ],
    rows,
    label,
  );
}

/** A status or board with the colour it has upstream. */
export function swatched(text: Child, color: string | null | undefined): Child {
  return color === undefined ? text : h('span.pill', { dir: 'auto', vars: swatch(color) }, text);
}

function swatch(color: string | null | undefined): Record<string, string> {
  return color && /^#[0-9a-f]{3,8}$/i.test(color) ? { '--swatch': color } : {};
}

export function banner(tone: Tone | 'plain', ...content: Child[]): HTMLElement {
  return h('div.banner', { 'data-tone': tone, role: tone === 'bad' ? 'alert' : 'status' }, ...content);
}

export type Tone = 'good' | 'warn' | 'bad';

/** One word about something, in the colour that it deserves. */
export function tag(text: Child, tone: Tone | null = null): HTMLElement {
  return h('span.tag', { 'data-tone': tone }, text);
}

/** A post of this mirror by its title. */
export function postLink(id: number, title: string, attributes: Attributes = {}, most = 90): HTMLElement {
  const text = excerpt(title, most) || '(no title)';
  return h('a', { dir: 'auto', href: `/posts/${id}`, title, ...attributes }, text);
}

/** Where what happens is said, and read out to people who do not see it. */
export function liveRegion(): HTMLElement {
  return h('div', { 'aria-live': 'polite' });
}

/** Does what a person asked for; what it fails with is said in its place, unless the person has left. */
export async function attempt(
  said: Element,
  work: () => Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!signal?.aborted) fill(said, failure(error));
  }
}

/** What went wrong, in its own words. */
export function failure(error: unknown): HTMLElement {
  return banner('bad', messageOf(error));
}

export function field(label: string, control: HTMLElement): HTMLElement {
  return h('label.field', label, control);
}

export interface Choice {
  value: string;
  text: string;
}

export function select(
  name: string,
  choices: readonly Choice[],
  chosen: string,
  onChange: (value: string) => void,
): HTMLSelectElement {
  const options = choices.map(({ value, text }) => h('option', { value, selected: value === chosen }, text));
  const element = h('select', { id: `field-${name}`, name }, ...options);
  element.addEventListener('change', () => onChange(element.value));
  return element;
}

export function button(text: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return h('button', { type: 'button', on: { click: onClick }, ...attributes }, text);
}

/** Puts a text on the clipboard and says so on the button for a moment. Where a browser keeps it shut, the text is shown to copy. */
export async function copyText(text: string, from: HTMLElement, said = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    const before = from.textContent;
    from.textContent = said;
    setTimeout(() => {
      if (from.textContent === said) from.textContent = before;
    }, 1500);
  } catch {
    const box = h('textarea', { rows: 10, readonly: true, 'aria-label': 'Links' });
    box.value = text;
    openDialog(
      'Copy these links',
      box,
      h('p.note', 'This browser lets no page write to the clipboard here.'),
    );
    box.select();
  }
}

interface FormDialog {
  title: string;
  /** What is asked, or the fields that are filled in. */
  content: readonly Child[];
  /** What the button says that does it. */
  action: string;
  isDangerous?: boolean;
  /** Does it; what it fails with is shown, and can be tried again. */
  run(fields: FormData): Promise<void>;
}

/**
 * A dialog that does something. It is the browser's own: it keeps the focus inside, closes with Escape and gives the focus back.
 * Where something is lost, the focus begins on the way out.
 */
export function openForm({ title, content, action, isDangerous = false, run }: FormDialog): void {
  const problem = h('div');
  const close = button('Close', () => dialog.close());
  const act = h('button', { class: isDangerous ? 'danger' : 'main' }, action);
  const attempt = async (): Promise<void> => {
    act.disabled = true;
    act.textContent = 'Please wait …';
    try {
      await run(new FormData(form));
      dialog.close();
    } catch (error) {
      fill(problem, failure(error));
    } finally {
      act.disabled = false;
      act.textContent = action;
    }
  };
  const form = h('form.stack', ...content, problem, h('div.actions', close, act));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void attempt();
  });
  const dialog = openDialog(title, form);
  const field = form.querySelector<HTMLElement>('input, select, textarea');
  (field ?? (isDangerous ? close : act)).focus();
}

let dialogs = 0;

/** An open dialog that is gone once it is closed. */
export function openDialog(title: string, ...content: Child[]): HTMLDialogElement {
  const id = `dialog-${++dialogs}`;
  const dialog = h('dialog', { 'aria-labelledby': id }, h('h2', { id }, title), ...content);
  dialog.addEventListener('close', () => {
    dialog.remove();
    // What opened it may be gone by now, and then nothing would have the focus.
    if (document.activeElement === document.body)
      document.querySelector('main')?.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** A link to another host in a window of its own. An address that is none of the web's stays text. */
export function outward(url: string | null, text: Child): Child {
  if (url === null || !/^https?:\/\//i.test(url)) return text;
  return h('a', { href: url, target: '_blank', rel: 'noopener noreferrer nofollow' }, text);
}

/** A text as somebody wrote it: its own lines and direction, and web addresses that can be followed. */
export function prose(text: string): HTMLElement {
  return h('p.text', { dir: 'auto' }, ...linksIn(text).map(({ text: piece, href }) => outward(href, piece)));
}

/** A moment in the reader's format; how long ago, where that is what people want to know, with the moment in its title. */
export function timeTag(iso: string, shown?: string, zone?: string): HTMLElement {
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
export function pager({ from, rows, total, previous, next }: Paging): HTMLElement | null {
  if (rows === 0 || (previous === null && next === null)) return null;
  const to = (id: string, href: string | null, text: string): HTMLElement | null =>
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

/** Names and values; a text keeps its lines. */
export function facts(pairs: [name: string, value: Child][]): HTMLElement {
  return h(
    'dl.facts',
    ...pairs.flatMap(([name, value]) => [h('dt', name), h('dd.text', { dir: 'auto' }, value)]),
  );
}
