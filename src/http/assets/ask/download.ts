import { Refused } from '../api.ts';

/** Has the answer as a file. The statement goes in the body, as to any other question: no address carries it. */
export async function downloadCsv(sql: string, fileRows: number, signal: AbortSignal): Promise<string> {
  const response = await fetch('/data/query.csv', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql }),
    credentials: 'same-origin',
    signal,
  });
  if (!response.ok) throw new Refused(response.status, await detailOf(response));
  const { blob, rows } = await readCsv(response);
  hand(blob, 'answer.csv');
  return rows >= fileRows
    ? `The file has the first ${fileRows.toLocaleString()} rows; there may be more.`
    : `The file has ${rows.toLocaleString()} ${rows === 1 ? 'row' : 'rows'}.`;
}

async function detailOf(response: Response): Promise<string> {
  const { detail } = (await response.json()) as { detail?: string };
  return detail ?? `The service answered ${response.status}.`;
}

const [LINE_FEED, QUOTE] = [10, 34];

/** Counted as it comes: only the number of rows tells whether the limit has left some out. */
async function readCsv(response: Response): Promise<{ blob: Blob; rows: number }> {
  const pieces: BlobPart[] = [];
  let [lines, isQuoted] = [0, false];
  const reader = response.body?.getReader();
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      pieces.push(next.value);
      for (const byte of next.value) {
        if (byte === QUOTE) isQuoted = !isQuoted;
        else if (byte === LINE_FEED && !isQuoted) lines += 1;
      }
    }
  } catch {
    throw new Error(
      'The file broke off: its answer is too large, or took too long. Ask for less, or use "feedback-mirror query".',
    );
  }
  return { blob: new Blob(pieces, { type: 'text/csv' }), rows: Math.max(0, lines - 1) };
}

function hand(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
