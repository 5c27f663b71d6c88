import { useEffect } from 'preact/hooks';
import type { SourcesAnswer } from '../../sources/site.ts';
import { fetchJson } from '../api.ts';
import { counted, number, span } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { banner, card, facts, pageHead, tag } from '../parts/layout.ts';
import { type TableColumn, tableCard } from '../parts/table.ts';
import { pageOf } from '../shell/page.ts';

type Source = SourcesAnswer['sources'][number];

const LOOK_MS = 5000;

/** All sources in a line each. There is no stream of news over all of them, so the page asks again. */
export const page = pageOf<SourcesAnswer>({
  title: 'Sources',
  load: (_place, signal) => fetchJson('/data/sources', { signal }),
  view({ answer: { sources }, place }) {
    useEffect(() => {
      const timer = setInterval(() => document.hidden || void place.reload().catch(() => undefined), LOOK_MS);
      return () => clearInterval(timer);
    }, []);
    const sums = sources.reduce((sum, { newPosts }) => sum + newPosts, 0);
    return [
      pageHead(
        'Sources',
        `${counted(sources.length, 'service')} in one program, ${counted(sums, 'new post')} within 24 hours.`,
      ),
      h(
        'div.stacked',
        summary(sources),
        tableCard({ title: 'All sources' }, { columns, rows: sources, key }),
        troubles(sources),
      ),
    ];
  },
});

const key = ({ name }: Source): string => name;

function summary(sources: readonly Source[]): VNode {
  const away = sources.filter(({ ready }) => !ready).map(({ name }) => name);
  const affected = sources.filter(({ trouble }) => trouble.length > 0).map(({ name }) => name);
  if (affected.length === 0) return banner('good', 'All sources are ready.');
  if (away.length === 0)
    return banner('warn', `All sources are ready, with trouble: ${affected.join(', ')}.`);
  return banner('bad', `${counted(away.length, 'source is', 'sources are')} not ready: ${away.join(', ')}.`);
}

function troubles(sources: readonly Source[]): VNode | null {
  const affected = sources.filter(({ trouble }) => trouble.length > 0);
  if (affected.length === 0) return null;
  const said = affected.map(({ name, trouble }): [string, Child] => [name, trouble.join('; ')]);
  return card({ title: 'Trouble' }, facts(said));
}

function stateTag({ ready, trouble }: Source): VNode {
  if (!ready) return tag('not ready', 'bad');
  return trouble.length > 0 ? tag('trouble', 'warn') : tag('ready', 'good');
}

const columns: TableColumn<Source>[] = [
  { head: 'Source', cell: ({ name }) => h('a', { href: `/s/${name}/` }, name) },
  { head: 'State', cell: stateTag },
  {
    head: 'Last read',
    cell: ({ lagSeconds }) => (lagSeconds === null ? 'never' : `${span(lagSeconds * 1000)} ago`),
  },
  { head: 'New posts', kind: 'number', cell: ({ newPosts }) => number(newPosts) },
  { head: 'Service', kind: 'quiet', cell: ({ host }) => host },
];
