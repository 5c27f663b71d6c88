import type uPlotType from 'uplot';
import { h } from './dom.ts';
import { date, number, OWN_ZONE } from './format.ts';
import { themeEvents } from './frame.ts';
import { type Bar, type Column, table } from './parts.ts';

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
  /** What is said where every value is zero or unknown. */
  empty?: string;
}

/** Posts and votes are counted: half a vote on the axis would only puzzle. */
const WHOLE_STEPS = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));

const COLORS = ['--accent', '--second', '--warn', '--good', '--bad'];

/** A chart over time, with the same numbers as a table behind it for people who cannot or do not want to see it. */
export function timeChart(options: ChartOptions, signal: AbortSignal): HTMLElement {
  if (!options.series.some(({ values }) => values.some(Boolean)))
    return h('p.empty', options.empty ?? 'Nothing in this period.');
  const plot = h('div.plot', { role: 'img', 'aria-label': summary(options) });
  const figure = h(
    'figure',
    { class: options.series.length === 1 ? 'chart single' : 'chart' },
    plot,
    tableBehind(options),
  );
  const draw = (): void => {
    plot.replaceChildren();
    if (plot.clientWidth > 0) new uPlot(settings(options, plot), data(options), plot);
  };
  const resized = new ResizeObserver(draw);
  resized.observe(plot);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', draw, { signal });
  themeEvents.addEventListener('change', draw, { signal });
  signal.addEventListener('abort', () => resized.disconnect(), { once: true });
  return figure;
}

function data({ times, series }: ChartOptions): uPlotType.AlignedData {
  return [times.map((time) => Date.parse(time) / 1000), ...series.map(({ values }) => values)];
}

/** Averages and shares, which people ask for in SQL, are not. */
function isWhole({ values }: Series): boolean {
  return values.every((value) => value === null || Number.isInteger(value));
}

function settings(
  { series, times, zone = OWN_ZONE, height = 200 }: ChartOptions,
  plot: HTMLElement,
): uPlotType.Options {
  const style = getComputedStyle(plot);
  // A custom property is not resolved for the theme; a colour is.
  const probe = plot.appendChild(h('i', { hidden: true }));
  const color = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const axis = {
    stroke: color('--quiet'),
    grid: { stroke: color('--grid'), width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
  };
  // The days of a calendar have no zone.
  const axisZone = times.every((time) => time.length === 10) ? 'Etc/UTC' : zone;
  const margin = series.some(({ kind }) => kind === 'bars') ? halfStep(times) : 0;
  return {
    width: plot.clientWidth,
    height,
    cursor: { y: false, points: { size: 6 } },
    legend: { live: true },
    axes: [
      { ...axis, size: 30, space: 70, values: (_, ticks) => tickLabels(ticks, axisZone) },
      {
        ...axis,
        size: 54,
        ...(series.every(isWhole) ? { incrs: WHOLE_STEPS } : {}),
        values: (_, ticks) => ticks.map((tick) => number(tick)),
      },
    ],
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
      ...series.map(drawn),
    ],
  };

  function drawn({ label, kind, color: own }: Series, i: number): uPlotType.Series {
    const stroke = color(own ?? COLORS[i % COLORS.length] ?? '--accent');
    const base = { label, stroke, width: 2, value: (_: unknown, value: number | null) => number(value) };
    if (kind === 'line') return { ...base, points: { show: false } };
    const steps = uPlot.paths.stepped?.({ align: 1 });
    if (kind === 'steps') return { ...base, points: { show: false }, ...(steps ? { paths: steps } : {}) };
    const bars = uPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 });
    return { ...base, width: 0, fill: stroke, points: { show: false }, ...(bars ? { paths: bars } : {}) };
  }
}

/** Ticks in the reader's own format: months where they are a month apart, hours within a day, else days. */
function tickLabels(ticks: readonly number[], timeZone: string): string[] {
  const step = (ticks[1] ?? 0) - (ticks[0] ?? 0);
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

function tableBehind({ title, times, zone, series, unit }: ChartOptions): HTMLElement {
  const columns: Column<number>[] = [
    { head: 'Date', cell: (i) => date(times[i] ?? null, zone) },
    ...series.map(({ label, values }) => ({
      head: label,
      kind: 'number' as const,
      cell: (i: number) => number(values[i] ?? null),
    })),
  ];
  return h('details', h('summary', 'As a table'), table(columns, [...times.keys()], `${title}, in ${unit}`));
}

/** What a picture says beside its chart: whoever gets it has nothing else. */
export interface Caption {
  title: string;
  /** The period, the board and whatever else was chosen. */
  line: string;
}

const [WIDTH, MARGIN, LINE, SCALE] = [1000, 32, 24, 2];
const FONT = 'system-ui, sans-serif';

type Draw = (pen: CanvasRenderingContext2D, top: number, color: (name: string) => string) => void;

/** A drawn chart as a PNG file, with its title above and the names of its lines. */
export async function chartPicture(figure: HTMLElement, caption: Caption): Promise<Blob> {
  const drawn = figure.querySelector('canvas');
  if (!drawn) throw new Error('There is no chart to make a picture of.');
  const names = [...figure.querySelectorAll<HTMLElement>('.u-legend .u-series')].slice(1);
  const width = WIDTH - 2 * MARGIN;
  const height = (drawn.height / drawn.width) * width;
  return picture(caption, height + LINE, (pen, top, color) => {
    let x = MARGIN;
    for (const name of names) {
      const marker = name.querySelector<HTMLElement>('.u-marker');
      pen.fillStyle = marker
        ? getComputedStyle(marker).borderTopColor || color('--accent')
        : color('--accent');
      pen.fillRect(x, top - 10, 12, 12);
      pen.fillStyle = color('--quiet');
      const text = name.querySelector('.u-label')?.textContent ?? '';
      pen.fillText(text, x + 18, top);
      x += 18 + pen.measureText(text).width + 24;
    }
    pen.drawImage(drawn, MARGIN, top + LINE / 2, width, height);
  });
}

/** Amounts side by side as a PNG file. */
export async function barsPicture(
  rows: readonly (Bar & { text: string })[],
  caption: Caption,
): Promise<Blob> {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  const labels = WIDTH * 0.4;
  const room = WIDTH - 2 * MARGIN - labels - 90;
  return picture(caption, rows.length * LINE * 1.2, (pen, top, color) => {
    rows.forEach(({ label, value, text }, i) => {
      const y = top + i * LINE * 1.2;
      pen.fillStyle = color('--text');
      pen.fillText(fitted(pen, String(label), labels - 16), MARGIN, y);
      pen.fillStyle = color('--accent');
      pen.fillRect(MARGIN + labels, y - 12, Math.max(2, (room * value) / most), 14);
      pen.fillStyle = color('--quiet');
      pen.fillText(text, MARGIN + labels + Math.max(2, (room * value) / most) + 10, y);
    });
  });
}

function picture({ title, line }: Caption, height: number, draw: Draw): Promise<Blob> {
  const top = MARGIN + 3 * LINE;
  const canvas = h('canvas', { width: WIDTH * SCALE, height: (top + height + MARGIN) * SCALE });
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('This browser draws no pictures.');
  const color = colors();
  pen.scale(SCALE, SCALE);
  pen.fillStyle = color('--surface');
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = color('--text');
  pen.font = `600 20px ${FONT}`;
  pen.fillText(fitted(pen, title, WIDTH - 2 * MARGIN), MARGIN, MARGIN + 12);
  pen.font = `14px ${FONT}`;
  pen.fillStyle = color('--quiet');
  pen.fillText(fitted(pen, line, WIDTH - 2 * MARGIN), MARGIN, MARGIN + 12 + LINE);
  draw(pen, top, color);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('The picture could not be made.'))),
      'image/png',
    ),
  );
}

/** A custom property is not resolved for the theme; a colour is. */
function colors(): (name: string) => string {
  const probe = h('i', { hidden: true });
  document.body.append(probe);
  const found = new Map<string, string>();
  for (const name of ['--surface', '--text', '--quiet', '--accent']) {
    probe.style.color = `var(${name})`;
    found.set(name, getComputedStyle(probe).color);
  }
  probe.remove();
  return (name) => found.get(name) ?? 'black';
}

function fitted(pen: CanvasRenderingContext2D, text: string, width: number): string {
  if (pen.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && pen.measureText(`${text.slice(0, end)}…`).width > width) end--;
  return `${text.slice(0, end)}…`;
}
