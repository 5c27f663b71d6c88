import { resolvedColors } from '../theme-colors.ts';
import type { Bar } from './table.ts';

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
export async function chartPicture(figure: Element, caption: Caption): Promise<Blob> {
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
      pen.fillText(fitted(pen, label, labels - 16), MARGIN, y);
      pen.fillStyle = color('--accent');
      pen.fillRect(MARGIN + labels, y - 12, (room * value) / most, 14);
      pen.fillStyle = color('--quiet');
      pen.fillText(text, MARGIN + labels + (room * value) / most + 10, y);
    });
  });
}

function picture({ title, line }: Caption, height: number, draw: Draw): Promise<Blob> {
  const top = MARGIN + 3 * LINE;
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: WIDTH * SCALE, height: (top + height + MARGIN) * SCALE });
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('This browser draws no pictures.');
  const color = resolvedColors();
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

function fitted(pen: CanvasRenderingContext2D, text: string, width: number): string {
  if (pen.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && pen.measureText(`${text.slice(0, end)}…`).width > width) end--;
  return `${text.slice(0, end)}…`;
}
