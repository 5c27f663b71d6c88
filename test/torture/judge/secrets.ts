import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CANARY } from '../../support/mirror-site.ts';
import { MARKS } from '../load/book.ts';
import type { Stage } from '../stage.ts';
import { inMirror } from './file.ts';

const TOKEN = [CANARY, encodeURIComponent(CANARY), Buffer.from(CANARY).toString('base64')];
const PEOPLE = [MARKS.email, MARKS.name];
const ANYTHING = [...PEOPLE, MARKS.title, MARKS.content];

/** Looks through every byte that the program left behind. */
export function checkSecrets(stage: Stage): void {
  const { folder, logs, data, queue, tally } = stage;
  const look = (what: string, place: string, words: readonly string[], only: RegExp = /./): void => {
    for (const file of filesIn(place).filter((path) => only.test(path))) {
      const bytes = readFileSync(file);
      const found = words.filter((word) => bytes.includes(word));
      tally.check(what, found.length === 0, () => `${found.join(', ')} in ${file}`);
    }
  };
  look('the token is in no file', folder, TOKEN);
  look('the token is in no queue', queue.folder, TOKEN);
  look('no log shows names, addresses or texts', logs, ANYTHING, /\.err$|service-\d+\.out$/);
  look('no queue holds names, addresses or texts', queue.folder, ANYTHING);
  look('redacted exports show no names or addresses', join(folder, 'exports'), PEOPLE);
  checkErrors(stage, join(data, 'mirror.db'));
}

/** What the mirror keeps of an upstream's error is shown in tables and pages. */
function checkErrors({ tally }: Stage, path: string): void {
  const sql = `SELECT last_error FROM outbox UNION SELECT error FROM outbox_attempts UNION SELECT error FROM sync_runs`;
  const errors = inMirror(path, (db) => db.prepare<[], string | null>(sql).pluck().all());
  for (const error of errors.filter((text) => text !== null))
    tally.check(
      'no error shows the token, names, addresses or texts',
      ![...TOKEN, ...ANYTHING].some((word) => error.includes(word)),
      () => error,
    );
}

function filesIn(place: string): string[] {
  if (!existsSync(place)) return [];
  const entries = readdirSync(place, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
