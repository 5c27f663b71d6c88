import Table from 'cli-table3';

const PLAIN = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** Columns side by side without lines; numbers to the right. */
export function table(head: string[], rows: (string | number | null)[][]): string {
  const colAligns = head.map((_, i) =>
    rows.length > 0 && rows.every((row) => typeof row[i] === 'number') ? 'right' : 'left',
  );
  const drawn = new Table({
    chars: PLAIN,
    colAligns,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  });
  drawn.push(
    head.map((title) => title.toUpperCase()),
    ...rows.map((row) => row.map((cell) => oneLine(cell))),
  );
  return drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** A cell from upstream must not move the cursor, colour the terminal or break the line. */
function oneLine(cell: string | number | null): string {
  if (typeof cell === 'number') return cell.toLocaleString('en');
  return (cell ?? '').replace(/\p{Cc}+/gu, ' ');
}
