import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { h } from '../../src/web/h.ts';
import { BoardPicker } from '../../src/web/parts/board-picker.ts';
import { checklist, SearchInput, select, TextInput } from '../../src/web/parts/controls.ts';
import { card, pager, swatched } from '../../src/web/parts/layout.ts';
import { periodFields } from '../../src/web/parts/period.ts';
import { postRow } from '../../src/web/parts/post-row.ts';
import { outward, prose } from '../../src/web/parts/prose.ts';
import { bars, table } from '../../src/web/parts/table.ts';
import { troubleRow } from '../../src/web/parts/trouble.ts';
import { until } from '../support/until.ts';
import { drawing } from './document.ts';

const COLUMNS = [{ head: 'Name', cell: (name: string) => h('details', h('summary', name)) }];

const rowsOf = (rows: readonly string[]) =>
  table({ columns: COLUMNS, rows, key: (name) => name, label: 'Names' });

describe('a list that is drawn again', () => {
  it('keeps the element of each row that stays, wherever it moves', () => {
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1 });
    fc.assert(
      fc.property(names, names, (before, after) => {
        const { root, draw } = drawing();
        draw(rowsOf(before));
        const elements = new Map(root.all('summary').map((summary) => [summary.text, summary]));
        draw(rowsOf(after));
        const now = root.all('summary');
        assert.deepEqual(
          now.map(({ text }) => text),
          after,
        );
        for (const summary of now)
          if (elements.has(summary.text)) assert.equal(summary, elements.get(summary.text));
      }),
    );
  });

  it('keeps a button that is held down while its text changes', () => {
    const { root, draw } = drawing();
    const clicked: number[] = [];
    const shown = (n: number) =>
      card({ title: `Rows: ${n}` }, h('button', { onClick: () => clicked.push(n) }, n));
    draw(shown(1));
    const pressed = root.one('button');
    draw(shown(2));
    pressed.fire('click');
    assert.deepEqual([pressed.text, clicked], ['2', [2]], 'the listener knows what is drawn now');
  });
});

describe('a field that is drawn again', () => {
  it('keeps what is half typed, tells of it once it is whole, and takes another value from outside', async () => {
    const { root, draw } = drawing();
    const told: (string | null)[] = [];
    const field = (value: string | null) => h(TextInput, { value, onText: (text) => told.push(text) });
    draw(field('old'));
    const input = root.one('input');
    const shown = (): unknown => input.value;
    Object.assign(input, { reportValidity: () => true });
    input.fire('input', { value: 'half' });
    draw(field('old'));
    assert.equal(shown(), 'half');
    input.fire('change');
    assert.deepEqual(told, ['half']);
    draw(field('from a link'));
    await until('the value of the address', async () => shown() === 'from a link');
  });

  it('searches when the person pauses, once for all letters, and shows another text from outside', async () => {
    const { root, draw } = drawing();
    const told: (string | null)[] = [];
    // Nobody types in the second field: had it told anything, that would be before the first one does.
    const field = (value: string | null) => [
      h(SearchInput, { value, onText: (text) => told.push(text) }),
      h(SearchInput, { value: 'kept', onText: () => told.push('untouched') }),
    ];
    draw(field(null));
    const input = root.one('input');
    const shown = (): unknown => input.value;
    for (const value of ['d', 'da', 'dark']) input.fire('input', { value });
    await until('a search', async () => told.length > 0);
    assert.deepEqual(told, ['dark']);
    draw(field('dark mode'));
    await until('the suggestion', async () => shown() === 'dark mode');
    input.fire('input', { value: ' ' });
    await until('no search', async () => told.length > 1);
    assert.deepEqual(told, ['dark', null], 'what comes from outside is no search of the person');
  });

  it('says in its summary what is ticked, and changes what is chosen by then', () => {
    const { root, draw } = drawing();
    const choices = ['a', 'b', 'c'].map((value) => ({ value, text: `Board ${value}` }));
    let next: readonly string[] = [];
    const boxes = (chosen: string[]) =>
      checklist('board', 'Board', choices, chosen, (change) => {
        next = change(['c']);
      });
    draw(boxes([]));
    assert.equal(root.one('summary').text, 'All');
    const box = root.all('input')[0];
    box?.fire('change', { checked: true });
    assert.deepEqual(next, ['c', 'a']);
    draw(boxes(['a']));
    assert.equal(root.one('summary').text, 'Board a');
    assert.equal(root.all('input')[0], box);
    draw(boxes(['a', 'c']));
    assert.equal(root.one('summary').attribute('aria-label'), 'Board: 2 chosen');
  });

  it('offers a board to type where none is known, and the other choices behind the boards', () => {
    const picked: string[] = [];
    const options = { id: 'x', label: 'Where to?', onPick: (board: string) => picked.push(board) };
    const { root, draw } = drawing();
    draw(h(BoardPicker, { ...options, boards: [] }));
    root.one('input').fire('change', { value: ' bugs ' });
    assert.deepEqual(picked, ['bugs']);
    const others = [{ value: '+drop', text: 'Leave out' }];
    const { root: full, draw: drawFull } = drawing();
    drawFull(
      h(BoardPicker, {
        ...options,
        boards: [{ id: 1, slug: 'bugs', name: 'Bugs' }],
        suggested: ['bugs'],
        others,
      }),
    );
    assert.deepEqual(
      full.all('option').map(({ text }) => text),
      ['Choose …', 'Bugs (suggested)', 'Another board: type it …', 'Leave out'],
    );
    full.one('select').fire('change', { value: '+drop' });
    assert.deepEqual(picked, ['bugs', '+drop']);
  });

  it('stays the same field when its choice is answered, and follows a choice from outside', async () => {
    const boards = [{ id: 1, slug: 'bugs', name: 'Bugs' }];
    const { root, draw } = drawing();
    const show = (chosen: string): void =>
      draw(h(BoardPicker, { id: 'x', label: 'Where to?', boards, chosen, onPick: () => undefined }));
    show('');
    const [select, input] = [root.one('select'), root.one('input')];
    select.fire('change', { value: '+typed' });
    await until('the field to type in', async () => input.attribute('hidden') === null);
    show('unknown');
    assert.equal(input.attribute('hidden'), null);
    show('bugs');
    assert.notEqual(input.attribute('hidden'), null);
    assert.deepEqual([root.one('select'), root.one('input')], [select, input]);
  });

  it('asks for two days where neither of the usual periods is chosen, and ends before the day after the last', () => {
    const { root, draw } = drawing();
    const fields = (since: string | null, until: string | null) =>
      periodFields({ since, until }, { usual: 'Any time', hasUntil: true }, () => undefined);
    draw(fields('30d', null));
    assert.equal(root.all('input').length, 0);
    draw(fields('2026-01-01', '2026-02-01'));
    assert.deepEqual(
      root.all('input').map(({ defaultValue }) => defaultValue),
      ['2026-01-01', '2026-01-31'],
    );
  });

  it('shows the choice of the address', () => {
    const { root, draw } = drawing();
    const choices = ['', 'a'].map((value) => ({ value, text: value || 'All' }));
    draw(select('x', choices, 'a', () => undefined));
    assert.equal(root.one('select').value, 'a');
  });
});

describe('what the upstream sends', () => {
  it('becomes text, never an element', () => {
    const { root, draw } = drawing();
    fc.assert(
      fc.property(fc.string(), (text) => {
        draw(h('p', text));
        assert.deepEqual(
          [root.text, root.one('p').childNodes.every(({ nodeType }) => nodeType === 3)],
          [text, true],
        );
      }),
    );
  });

  it('is followed only where it is an address of the web', () => {
    const { root, draw } = drawing();
    draw([outward('javascript:alert(1)', 'no'), prose('see https://a.test/b. or data:text/html,x')]);
    assert.deepEqual(
      root.all('a').map((link) => [link.attribute('href'), link.text]),
      [['https://a.test/b', 'https://a.test/b']],
    );
  });

  it('colours a status only by what is a colour', () => {
    for (const [color, shown] of [
      ['#0f0', '#0f0'],
      ['red;background:url(x)', undefined],
      [null, undefined],
    ] as const) {
      const { root, draw } = drawing();
      draw(swatched('Open', color));
      assert.equal(root.one('span').style['--swatch'], shown);
    }
  });
});

describe('a list of posts', () => {
  const post = {
    ...{
      id: 7,
      title: '',
      beginning: 'A text.',
      votes: 1,
      comments: 2,
      deleted: null,
      created: '2026-01-01T00:00:00Z',
    },
    ...{ changed: '2026-01-01T00:00:00Z', url: 'https://a.test/7' },
    ...{
      status: 'Open',
      statusColor: '#00ff00',
      board: 'Bugs',
      boardSlug: 'bugs',
      creator: null,
      creatorId: 5,
    },
  };

  it('leads to the post, its board and its author, and names what has no name', () => {
    const { root, draw } = drawing();
    draw(postRow(post, { zone: 'UTC' }));
    assert.deepEqual(
      root.all('a').map((link) => [link.attribute('href'), link.text]),
      [
        ['/posts/7', '(no title)'],
        ['/boards/bugs', 'Bugs'],
        ['/people/5', 'user 5'],
      ],
    );
    assert.match(root.text, /^1vote/);
  });

  it('says where its page is, and has no pager where there is one page', () => {
    const { root, draw } = drawing();
    const total = { rows: 120, isMore: false };
    draw(pager({ from: 51, rows: 50, total, previous: '/p', next: '/n' }));
    assert.equal(root.text, '51–100 of 120Previous pageNext page');
    draw(pager({ from: 1, rows: 20, total, previous: null, next: null }));
    assert.equal(root.text, '');
  });

  it('draws amounts beside the largest, also where all are shares', () => {
    const { root, draw } = drawing();
    draw(
      bars(
        [
          { label: 'a', value: 0.5 },
          { label: 'b', value: 0.25 },
        ],
        'Shares',
      ),
    );
    const widths = root.all('span').map(({ style }) => style.width);
    assert.deepEqual(
      widths.filter((width) => width !== undefined),
      ['100%', '50%'],
    );
  });
});

describe('the banner', () => {
  const trouble = {
    symptom: 'deletions-held',
    what: 'deletions are held',
    since: null,
    until: null,
    detail: null,
    advice: 'look there',
    runbook: 'docs/operations.md#deletions-held',
  } as const;

  it('leads to the row of the runbook for every trouble', () => {
    const { root, draw } = drawing();
    for (const symptom of ['deletions-held', 'token-refused'] as const) {
      const runbook = `docs/operations.md#${symptom}`;
      draw(troubleRow({ ...trouble, symptom, runbook }));
      const link = root.all('a').at(-1);
      assert.equal(link?.text, 'What to do');
      assert.equal(
        decodeURIComponent(link?.attribute('href') ?? ''),
        `/docs/operations.md#:~:text=id="${symptom}"`,
      );
    }
  });
});
