import type { RefusedLine } from '../../../outbox/import/tally.ts';
import type { KnownBoard } from '../../../store/outbox/import-reads.ts';
import type { ImportState, Rehearsal, Wishes } from '../../dashboard/imports-shapes.ts';
import { ask } from '../api.ts';
import { confirm } from '../dialog.ts';
import { type Child, fill, h } from '../dom.ts';
import { counted, number } from '../format.ts';
import { banner, button, card, table } from '../parts.ts';
import { size } from './import-choose.ts';
import { columnForm } from './import-columns.ts';
import { outlookCards } from './import-outlook.ts';

export interface Rehearsing {
  path: string;
  state: ImportState;
  boards: KnownBoard[];
  draw(state: ImportState): void;
}

/** What the dry run of a file showed, how it was read, and the button that imports it. */
export function showRehearsal(rehearsing: Rehearsing): Child[] {
  const { path, state, boards, draw } = rehearsing;
  const { rehearsal } = state;
  if (!rehearsal) return [banner('bad', 'This file was never read. Choose it again.')];
  const trouble = h('div', { 'aria-live': 'polite' });
  const again = async (wishes: Wishes): Promise<void> => {
    try {
      draw(await ask<ImportState>(`${path}/rehearse`, { body: wishes }));
    } catch (error) {
      fill(trouble, banner('bad', error instanceof Error ? error.message : String(error)));
    }
  };
  return [
    trouble,
    rehearsal.ok ? summary(rehearsing, rehearsal) : banner('warn', sentence(rehearsal.problem)),
    columnForm({ state, rehearsal, boards, onChange: (wishes) => void again(wishes) }),
    ...(rehearsal.ok ? [refusedCard(rehearsal), ...outlookCards(rehearsal)] : []),
  ];
}

function sentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}. Say below how the file is to be read.`;
}

type Readable = Rehearsal & { ok: true };

function summary(rehearsing: Rehearsing, rehearsal: Readable): HTMLElement {
  const { rows, accepted, already, refused } = rehearsal.tally;
  const figures: [string, number][] = [
    [rows === 1 ? 'row in the file' : 'rows in the file', rows],
    ['new, would be sent', accepted],
    ['imported before', already],
    ['refused', refused],
  ];
  return card(
    { title: 'What would happen', note: `${size(rehearsing.state.bytes)}; nothing was written so far` },
    h(
      'div',
      { class: 'figures' },
      ...figures.map(([name, n]) =>
        h('div', { class: 'figure' }, h('b', {}, number(n)), h('span', {}, name)),
      ),
    ),
    notes(rehearsal),
    h(
      'div',
      { class: 'actions' },
      importButton(rehearsing, rehearsal),
      other(),
      results(rehearsing, already),
    ),
  );
}

function notes({ tally }: Readable): Child {
  if (tally.notes.length === 0) return null;
  const text = tally.notes.map(
    ({ text: what, rows, lines }) => `${what} (${counted(rows, 'row')}, first in line ${lines[0] ?? '?'})`,
  );
  return h('ul', { class: 'note' }, ...text.map((one) => h('li', {}, one)));
}

function importButton({ path, draw }: Rehearsing, { tally, wishes, outlook }: Readable): HTMLElement {
  const rows = counted(tally.accepted, 'row');
  const asCustomers = outlook.asKnownCustomer + outlook.asNewCustomer;
  const label = tally.accepted === 0 ? 'Nothing new to import' : `Import ${rows}`;
  const element = button(label, () =>
    confirm({
      title: `Import ${rows}?`,
      text: [
        `${rows} will be put into the outbox and sent upstream, one after the other.`,
        asCustomers > 0
          ? ` ${number(asCustomers)} go out in a customer's name, who may be told about it by the service.`
          : null,
      ],
      action: `Import ${rows}`,
      run: async () => draw(await ask<ImportState>(`${path}/commit`, { body: wishes })),
    }),
  );
  element.className = 'main';
  element.id = 'import';
  element.disabled = tally.accepted === 0;
  return element;
}

function other(): HTMLElement {
  return h('a', { class: 'button', id: 'other-file', href: '/outbox/import' }, 'Choose another file');
}

function results({ path }: Rehearsing, already: number): Child {
  if (already === 0) return null;
  return h('a', { class: 'button', id: 'results', href: `${path}/results`, download: '' }, 'Results as CSV');
}

function refusedCard({ tally }: Readable): Child {
  if (tally.refused === 0) return null;
  const note =
    tally.refused > tally.refusals.length ? `the first ${number(tally.refusals.length)} are shown` : null;
  return card(
    {
      title: `${counted(tally.refused, 'row')} refused`,
      note: note ?? 'mend them and import the file again',
    },
    table<RefusedLine>(
      [
        { head: 'Line', cell: ({ line }) => number(line) },
        { head: 'Why', cell: ({ reason }) => reason },
      ],
      tally.refusals,
      'Refused rows',
    ),
  );
}
