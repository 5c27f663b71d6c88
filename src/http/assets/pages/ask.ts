import type { Answer, AskFacts } from '../../dashboard/ask.ts';
import { ask, withQuery } from '../api.ts';
import { answerCards } from '../ask/answer.ts';
import { downloadCsv } from '../ask/download.ts';
import { savedPart } from '../ask/saved.ts';
import { schemaCard } from '../ask/schema.ts';
import { fill, h } from '../dom.ts';
import type { Page, PageContext } from '../page.ts';
import { banner, button, card, pageHead } from '../parts.ts';

/** An address longer than this is cut by what it is pasted into. */
const LONGEST_ADDRESS = 6000;

export const page: Page = {
  title: 'Ask',
  async show(context) {
    const { root, url, signal } = context;
    const facts = await ask<AskFacts>('/data/query', { signal });
    const given = url.searchParams.get('q') ?? '';
    const desk = openDesk(context, facts, given);
    const saved = await savedPart(desk.take, signal);
    const tools = [
      h('button', { class: 'main', type: 'submit' }, 'Run'),
      button('Download CSV', () => void desk.download()),
      button('Save', () => desk.withSql(saved.save)),
      h('span', { class: 'note keys' }, 'Ctrl + Enter runs it'),
    ];
    const form = h(
      'form',
      { on: { submit: desk.onSubmit } },
      h('label', { class: 'field', for: 'sql' }, 'Statement'),
      desk.box,
      h('div', { class: 'actions' }, ...tools),
    );
    fill(
      root,
      pageHead('Ask', 'Everything in the mirror, in SQL. Nothing can be changed from here.'),
      h(
        'div',
        { class: 'ask' },
        h('div', { class: 'column' }, card({ title: 'Statement' }, form), desk.result),
        h('div', { class: 'column' }, saved.element, schemaCard(facts, desk.insert)),
      ),
    );
    if (given !== '') await desk.run();
  },
};

/** The box and what came of it. */
function openDesk({ signal }: PageContext, facts: AskFacts, given: string) {
  const box = h('textarea', {
    id: 'sql',
    name: 'sql',
    rows: 8,
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
    placeholder: 'SELECT board, count(*) FROM live_posts GROUP BY board',
    on: { keydown: (event) => onKey(event as KeyboardEvent) },
  });
  box.value = given;
  const result = h('div', { class: 'column', 'aria-live': 'polite' });
  let asked = new AbortController();

  /** One question at a time: the next one ends the last. */
  const attempt = async (work: (signal: AbortSignal) => Promise<HTMLElement[]>): Promise<void> => {
    asked.abort();
    asked = new AbortController();
    const both = AbortSignal.any([signal, asked.signal]);
    result.setAttribute('aria-busy', 'true');
    result.classList.add('busy');
    try {
      const drawn = await work(both);
      if (!both.aborted) fill(result, drawn);
    } catch (error) {
      if (both.aborted) return;
      fill(result, banner('bad', error instanceof Error ? error.message : String(error)));
    }
    result.removeAttribute('aria-busy');
    result.classList.remove('busy');
  };
  const run = (): Promise<void> =>
    attempt(async (both) => {
      remember(box.value);
      const answer = await ask<Answer>('/data/query', { body: { sql: box.value }, signal: both });
      return answerCards(answer, facts.limits.file, signal);
    });
  const download = (): Promise<void> =>
    attempt(async (both) => [banner('good', await downloadCsv(box.value, facts.limits.file, both))]);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void run();
  };
  return {
    box,
    result,
    run,
    download,
    onSubmit(event: Event): void {
      event.preventDefault();
      void run();
    },
    take(sql: string): void {
      box.value = sql;
      box.focus();
      void run();
    },
    insert(word: string): void {
      box.setRangeText(word, box.selectionStart, box.selectionEnd, 'end');
      box.focus();
    },
    withSql(use: (sql: string) => void): void {
      if (box.value.trim() === '') box.focus();
      else use(box.value);
    },
  };
}

/** The address is the statement, so that it can be sent to somebody; without a new page, so that undo still works in the box. */
function remember(sql: string): void {
  const address = withQuery('/ask', { q: sql });
  history.replaceState(null, '', address.length > LONGEST_ADDRESS ? '/ask' : address);
}
