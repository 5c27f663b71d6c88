import type { ReportInfo, ReportsAnswer } from '../../http/dashboard/reports.ts';
import { fetchJson } from '../api.ts';
import { titleOf } from '../format.ts';
import { h } from '../h.ts';
import { card, pageHead } from '../parts/layout.ts';
import { useSavedList, VIEWS } from '../parts/saved-list.ts';
import { pageOf } from '../shell/page.ts';

/** Every report with the question it answers, and the views that people keep. */
export const page = pageOf<ReportsAnswer>({
  title: 'Reports',
  load: (_place, signal) => fetchJson('/data/reports', { signal }),
  view({ answer: { reports } }) {
    const shelf = useSavedList(VIEWS);
    const items = reports.map((info) =>
      h(
        'li',
        h('a.name', { id: `report-${info.name}`, href: `/reports/${info.name}` }, titleOf(info.name)),
        h('p.note', questionOf(info)),
      ),
    );
    return [
      pageHead(
        'Reports',
        'Ready-made answers, the same as on the command line.',
        h('a.button', { href: '/rules' }, 'Rules'),
      ),
      h(
        'div.grid',
        card({ title: 'All reports', size: 'two-thirds' }, h('ul.plain.choices', items)),
        card({ title: 'Saved views', note: 'Shared by everyone', size: 'third' }, shelf.list),
      ),
    ];
  },
});

export function questionOf({ answers }: ReportInfo): string {
  return withoutFlags(answers);
}

/** The command line names the flags that change an answer, in brackets; here they are fields. */
export function withoutFlags(sentence: string): string {
  return sentence.replaceAll(/ \(--[^)]*\)/g, '');
}
