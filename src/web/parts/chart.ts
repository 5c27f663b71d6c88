import { useEffect, useRef } from 'preact/hooks';
import type uPlotType from 'uplot';
import { date, number, OWN_ZONE } from '../format.ts';
import { h, type VNode } from '../h.ts';
import { resolvedColors, themeEvents } from '../theme-colors.ts';
import { type TableColumn, table } from './table.ts';

declare const uPlot: typeof uPlotType;

export interface Series {
  label: string;
  /** One value a moment; null where nothing is known. */
  values: (number | null)[];
  /** Bars for what happened within a step, a line for what stood at a moment, steps for what stayed until the next one. */
  kind: 'line' | 'bars' | 'steps';
  /** A custom property of the style; the colours in their order unless given. */
  color?: string;
}

export interface ChartOptions {
  title: string;
  /** The moments, ISO 8601. */
  times: string[];
  /** The zone to show them in; the reader's own unless given. */
  zone?: string;
  series: Series[];
  height?: number;
  /** What the numbers are; in the caption of the table behind. */
  unit: string;
  /** Where a moment leads, such as to the posts behind its bar. */
  href?(time: string): string | null;
  /** The last moment, where its time is not over: drawn pale, behind a dashed line, and called "so far". */
  unfinished?: string | null;
  /** What is said where every value is zero or unknown. */
  empty?: string;
}

/** Posts and votes are counted: half a vote on the axis would only puzzle. */
const WHOLE_STEPS = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));

/** Told apart by everybody, also where red and green are not. */
const COLORS = ['--accent', '--warn', '--second', '--third', '--quiet'];

/** A chart over time, with the same numbers as a table behind it for people who cannot or do not want to see it. */
export function timeChart(options: ChartOptions): VNode {
  if (!hasValues(options)) return h('p.empty', options.empty ?? nothingIn(options));
  return h(
    'figure.chart',
    { class: options.series.length === 1 ? 'single' : null },
    h(Plot, options),
    tableBehind(options),
  );
}

/** Zero of everything is something else than no figure at all, such as a median of too few. */
function nothingIn({ series }: ChartOptions): string {
  const isKnown = series.some(({ values }) => values.some((value) => value !== null));
  return isKnown ? 'Nothing in this period.' : 'There are too few rows in this period for these figures.';
}

export function hasValues({ series }: ChartOptions): boolean {
  return series.some(({ values }) => values.some(Boolean));
}

/** The canvas itself, drawn again when its numbers, its width or the theme change. */
function Plot(options: ChartOptions): VNode {
  const element = useRef<HTMLDivElement>(null);
  const instance = useRef<uPlotType>(null);
  const { times, series, zone, height, unfinished } = options;
  useEffect(() => {
    const plot = element.current;
    if (!plot) return;
    const draw = (): void => {
      instance.current?.destroy();
      instance.current =
        plot.clientWidth > 0 ? new uPlot(settings(options, plot), data(options), plot) : null;
    };
    const resized = new ResizeObserver(draw);
    resized.observe(plot);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    themeEvents.addEventListener('change', draw);
    return () => {
      resized.disconnect();
      dark.removeEventListener('change', draw);
      themeEvents.removeEventListener('change', draw);
      instance.current?.destroy();
      instance.current = null;
    };
  }, [JSON.stringify([times, series, zone, height, unfinished])]);
  // The table behind has the links: a bar does what the link of its row does.
  const follow = (): void => {
    const at = instance.current?.cursor.idx;
    const rows = element.current?.closest('figure')?.querySelectorAll('tbody tr');
    if (at !== null && at !== undefined) rows?.[at]?.querySelector('a')?.click();
  };
  const canFollow = options.href !== undefined;
  return h('div.plot', {
    ref: element,
    role: 'img',
    class: canFollow ? 'linked' : null,
    'aria-label': summary(options),
    onClick: canFollow ? follow : null,
  });
}

function data({ times, series }: ChartOptions): uPlotType.AlignedData {
  return [times.map((time) => Date.parse(time) / 1000), ...series.map(({ values }) => values)];
}

/** Averages and shares, which people ask for in SQL, are not. */
function isWhole({ values }: Series): boolean {
  return values.every((value) => value === null || Number.isInteger(value));
}

type Color = ReturnType<typeof resolvedColors>;

function settings(options: ChartOptions, plot: HTMLElement): uPlotType.Options {
  const { series, times, zone = OWN_ZONE, height = 200 } = options;
  const color = resolvedColors();
  // The days and months of a calendar have no zone.
  const isCalendar = times.every((time) => time.length <= 10);
  const axisZone = isCalendar ? 'Etc/UTC' : zone;
  const margin = series.some(({ kind }) => kind === 'bars') ? halfStep(times) : 0;
  return {
    width: plot.clientWidth,
    height,
    cursor: { y: false, points: { size: 6 } },
    // The words above what is not finished stand over the highest bar.
    padding: [options.unfinished ? 20 : null, null, null, null],
    legend: { live: true },
    axes: axesOf(options, plot, color, isCalendar ? null : axisZone),
    hooks: { draw: [(plotted) => drawUnfinished(plotted, options, color)] },
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), axisZone),
    scales: {
      x: { range: (_, low, high) => [low - margin, high + margin] },
      y: { range: (_, low, high) => [Math.min(0, low), high === low ? high + 1 : high * 1.05] },
    },
    series: [
      {
        label: 'Date',
        value: (_, at) => (at === null ? '–' : date(times[closest(times, at)] ?? null, zone)),
      },
      ...series.map((one, i) => drawn(one, i, color)),
    ],
  };
}

/** Time below, amounts on the left. Without a zone the times are days or months, which have their ticks where they begin. */
function axesOf(
  { series, times }: ChartOptions,
  plot: HTMLElement,
  color: Color,
  zone: string | null,
): uPlotType.Axis[] {
  const axis = {
    stroke: color('--quiet'),
    grid: { stroke: color('--grid'), width: 1 },
    ticks: { show: false },
    font: `12px ${getComputedStyle(plot).fontFamily}`,
  };
  const step = zone === null ? 2 * halfStep(times) : undefined;
  return [
    {
      ...axis,
      size: 30,
      space: TICK_SPACE,
      ...(zone === null ? { splits: () => ticksAt(times, plot.clientWidth) } : {}),
      values: (_, ticks) => tickLabels(ticks, zone ?? 'Etc/UTC', step),
    },
    {
      ...axis,
      size: 54,
      ...(series.every(isWhole) ? { incrs: WHOLE_STEPS } : {}),
      values: (_, ticks) => ticks.map((tick) => number(tick)),
    },
  ];
}

/** How a series is drawn: as bars, steps or a line. */
function drawn({ label, kind, color: own }: Series, i: number, color: Color): uPlotType.Series {
  const stroke = color(own ?? COLORS[i % COLORS.length] ?? '--accent');
  const base = { label, stroke, width: 2, value: (_: unknown, value: number | null) => number(value) };
  if (kind === 'line') return { ...base, points: { show: false } };
  const steps = uPlot.paths.stepped?.({ align: 1 });
  if (kind === 'steps') return { ...base, points: { show: false }, ...(steps ? { paths: steps } : {}) };
  const bars = uPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 });
  return { ...base, width: 0, fill: stroke, points: { show: false }, ...(bars ? { paths: bars } : {}) };
}

const TICK_SPACE = 70;

/** Days, weeks and months have their ticks where they begin: all of them, or every so many where they are many. */
function ticksAt(times: readonly string[], width: number): number[] {
  const each = Math.max(
    1,
    Math.ceil((times.length * TICK_SPACE) / Math.max(TICK_SPACE, width - 2 * TICK_SPACE)),
  );
  return times.flatMap((time, i) => (i % each === 0 ? Date.parse(time) / 1000 : []));
}

/** Makes the week or day that is not over pale, behind a dashed line. */
function drawUnfinished(plot: uPlotType, { times, unfinished }: ChartOptions, color: Color): void {
  if (!unfinished || times.at(-1) !== unfinished) return;
  const { ctx: pen, bbox } = plot;
  const from = plot.valToPos(Date.parse(unfinished) / 1000 - halfStep(times), 'x', true);
  const left = Math.max(bbox.left, from);
  const ratio = devicePixelRatio;
  pen.save();
  pen.globalAlpha = 0.6;
  pen.fillStyle = color('--surface');
  pen.fillRect(left, bbox.top, bbox.left + bbox.width - left, bbox.height);
  pen.globalAlpha = 1;
  pen.strokeStyle = color('--quiet');
  pen.lineWidth = ratio;
  pen.setLineDash([4 * ratio, 4 * ratio]);
  pen.beginPath();
  pen.moveTo(left, bbox.top);
  pen.lineTo(left, bbox.top + bbox.height);
  pen.stroke();
  pen.fillStyle = color('--quiet');
  pen.textAlign = 'right';
  pen.textBaseline = 'bottom';
  pen.fillText(SO_FAR, left + 4 * ratio, bbox.top - 4 * ratio);
  pen.restore();
}

const SO_FAR = 'so far →';

/** Ticks in the reader's own format: months where they are a month apart, hours within a day, else days. */
function tickLabels(
  ticks: readonly number[],
  timeZone: string,
  step = (ticks[1] ?? 0) - (ticks[0] ?? 0),
): string[] {
  const format = (parts: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(undefined, { ...parts, timeZone });
  const day = format(
    step > 27 * 86_400 ? { month: 'short', year: 'numeric' } : { month: 'short', day: 'numeric' },
  );
  const hour = format({ hour: '2-digit', minute: '2-digit' });
  const names = ticks.map((tick) => day.format(tick * 1000));
  return names.map((name, i) => (name === names[i - 1] ? hour.format((ticks[i] ?? 0) * 1000) : name));
}

/** So that the first and the last bar are whole. */
function halfStep(times: readonly string[]): number {
  const [first, second] = times.map((time) => Date.parse(time) / 1000);
  return first === undefined || second === undefined ? 43_200 : (second - first) / 2;
}

/** Where a moment of the plot, in seconds, stands in the list. */
function closest(times: readonly string[], at: number): number {
  return times.findIndex((time) => Date.parse(time) / 1000 === at);
}

function summary({ title, times, zone, series }: ChartOptions): string {
  const spans = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    return known.length === 0
      ? `${label}: nothing known`
      : `${label} from ${number(known[0] ?? null)} to ${number(known.at(-1) ?? null)}`;
  });
  const [first = null, last = null] = [times[0], times.at(-1)];
  return `${title}, ${date(first, zone)} to ${date(last, zone)}. ${spans.join('; ')}. The table below has every number.`;
}

function tableBehind({ title, times, zone, series, unit, href, unfinished }: ChartOptions): VNode {
  const columns: TableColumn<number>[] = [
    {
      head: 'Date',
      cell: (i) => {
        const [shown, to] = [date(times[i] ?? null, zone), href?.(times[i] ?? '')];
        const remark = times[i] === unfinished ? ' (so far)' : null;
        return [to ? h('a', { href: to }, shown) : shown, remark];
      },
    },
    ...series.map(({ label, values }) => ({
      head: label,
      kind: 'number' as const,
      cell: (i: number) => number(values[i] ?? null),
    })),
  ];
  return h(
    'details',
    h('summary', 'As a table'),
    table({ columns, rows: [...times.keys()], label: `${title}, in ${unit}` }),
  );
}
