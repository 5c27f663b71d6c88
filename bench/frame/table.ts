import { table } from '../../src/cli/table.ts';
import { median, rounded, spread, verdict } from './numbers.ts';
import type { Bound, Row, Series } from './set.ts';

export const HEAD = [
  'row',
  'ours',
  'spread',
  'beside it',
  'its figure',
  'spread',
  'ratio or value',
  'must be',
  '',
];

/** The cells of a row, the same for the terminal and for the file. */
export function cells({ row, ours, peer, figure, bound }: Row): string[] {
  const judged = verdict(figure, bound);
  const last = [figureText(figure, ours, peer, bound), boundText(bound), judged === 'no bound' ? '' : judged];
  return [row, ...seriesCells(ours), ...(peer ? [peer.name, ...seriesCells(peer)] : ['', '', '']), ...last];
}

/** Every set one after the other, in one table. */
export function tableText(sets: { name: string; rows: Row[] }[]): string {
  const lines = sets.flatMap(({ name, rows }) => rows.map((row) => [name, ...cells(row)]));
  return table(['set', ...HEAD], lines);
}

function seriesCells({ values, unit, command }: Series): [string, string] {
  if (values.length === 0) return [command, ''];
  const [least, most] = spread(values);
  const range = values.length === 1 ? '' : `${rounded(least)}…${rounded(most)}`;
  return [`${rounded(median(values))} ${unit}`, range];
}

function figureText(figure: number, ours: Series, peer: Series | null, bound: Bound | null): string {
  if (Number.isNaN(figure)) return '';
  const isOurs = peer === null && figure === median(ours.values);
  const unit = bound?.unit ?? (isOurs ? ours.unit : 'x');
  return `${rounded(figure)} ${unit}`.trim();
}

function boundText(bound: Bound | null): string {
  return bound ? `${bound.is} ${bound.value} ${bound.unit}`.trim() : '';
}
