import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createLogger } from '../../src/base/log.ts';
import { openOrReplace } from '../../src/queue/embedded-database.ts';
import { templateAt } from '../../src/queue/template.ts';

const log = createLogger({ level: 'silent', format: 'json', secrets: () => [] });
const patience = { stuckMs: 20_000, openMs: 60_000 };

describe('the copy of a new database', () => {
  it('is kept from the first folder that is made, and later ones are whole and empty like that one', async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'fm-template-'));
    t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
    const kept = join(root, 'kept');
    const open = (name: string) =>
      openOrReplace({ folder: join(root, name), log, patience, template: templateAt(kept) });

    const first = await open('first');
    assert.ok(existsSync(join(kept, 'PG_VERSION')));
    await first.query('CREATE TABLE only_here (id int)');
    await first.close();

    const second = await open('second');
    const { rows } = await second.query<{ found: string | null }>("SELECT to_regclass('only_here') AS found");
    assert.equal(rows[0]?.found, null);
    await second.query('SELECT count(*) FROM job');
    await second.close();

    truncateSync(join(kept, 'global/pg_control'), 0);
    const third = await open('third');
    await third.query('SELECT count(*) FROM job');
    await third.close();
    assert.ok(existsSync(join(kept, 'PG_VERSION')), 'a broken copy is replaced by a new one');
    await (await open('fourth')).close();
  });
});
