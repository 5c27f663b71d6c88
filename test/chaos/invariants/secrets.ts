import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CANARY } from '../../support/mirror-site.ts';
import type { Fixture } from '../fixture.ts';
import { MARKS } from '../load/drafts.ts';
import { filesIn } from '../queue.ts';
import { inMirror } from './file.ts';

const TOKEN = [CANARY, encodeURIComponent(CANARY), Buffer.from(CANARY).toString('base64')];
const PEOPLE = [MARKS.email, MARKS.name];
const ANYTHING = [...PEOPLE, MARKS.title, MARKS.content];

/** Looks through every byte that the program left behind. */
export function checkSecrets(fixture: Fixture): void {
  const { folder, logs, data, queue, tally } = fixture;
  const look = (what: string, files: readonly string[], words: readonly string[]): void => {
    for (const file of files) {
      const bytes = readFileSync(file);
      const found = words.filter((word) => bytes.includes(word));
      tally.check(what, found.length === 0, () => `${found.join(', ')} in ${file}`);
    }
  };
  const printed = filesIn(logs).filter((path) => /\.err$|service-\d+\.out$/.test(path));
  look('the token is in no file', filesIn(folder), TOKEN);
  look('the token is in no queue', queue.files(), TOKEN);
  look('no log shows names, addresses or texts', printed, ANYTHING);
  look('no queue holds names, addresses or texts', queue.files(), ANYTHING);
  look('redacted exports show no names or addresses', filesIn(join(folder, 'exports')), PEOPLE);
  checkErrors(fixture, join(data, 'mirror.db'));
}

/** What the mirror keeps of an upstream's error is shown in tables and pages. */
function checkErrors({ tally }: Fixture, path: string): void {
  const sql = `SELECT last_error FROM outbox UNION SELECT error FROM outbox_attempts UNION SELECT error FROM sync_runs`;
  const errors = inMirror(path, (db) => db.prepare<[], string | null>(sql).pluck().all());
  for (const error of errors.filter((text) => text !== null))
    tally.check(
      'no error shows the token, names, addresses or texts',
      ![...TOKEN, ...ANYTHING].some((word) => error.includes(word)),
      () => error,
    );
}
