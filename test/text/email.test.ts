import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { untouchedFiles } from '../../src/erasure/files.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import { openImportReads } from '../../src/outbox/store/imports.ts';
import { openReportReader } from '../../src/reports/store.ts';
import { readCustomers } from '../../src/segments/file.ts';
import { emailKey, mailbox } from '../../src/text/email.ts';
import { folderFor } from '../support/folder.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';

/** One address in four spellings; SQLite's own folding knows the first two as one. */
const SPELLINGS = ['JÖRG@Example.com', 'jÖrg@example.com', ' jörg@example.com ', 'jo\u0308rg@example.com'];

describe('an address', () => {
  it('is the same one in any spelling, wherever addresses are compared', async (t) => {
    assert.equal(new Set(SPELLINGS.map(emailKey)).size, 1);
    const folder = folderFor(t, 'email');
    const place = { path: join(folder, 'mirror.db'), upstream: 'http://upstream.test' };
    const store = openMirrorStore({ ...place, holder: 'the test' });
    const user = (id: number, email: string) => ({ ...wire.user, id, email });
    await sweep(store, 'posts', [
      aPost(1, { creator: user(1, SPELLINGS[0] ?? '') }),
      aPost(2, { creator: user(2, 'Plain@Example.com') }),
    ]);
    const [reports, imports] = [openReportReader(place), openImportReads(place)];
    t.after(async () => {
      await Promise.all([reports.close(), imports?.close(), store.close()]);
    });
    for (const email of SPELLINGS) {
      assert.deepEqual(await reports.usersWith(email), [1], email);
      assert.deepEqual(
        await imports?.customers([email, 'nobody@example.com']),
        new Set(['jörg@example.com']),
      );
      assert.equal(mailbox(email), 'jörg@example.com');
    }
    assert.deepEqual(await reports.usersWith('PLAIN@example.com'), [2]);
    const file = readCustomers(`email,plan\n${SPELLINGS.join(',x\n')},x\n`);
    assert.equal(file.customers.length, 1);
    for (const [i, email] of SPELLINGS.entries())
      writeFileSync(join(folder, `note-${i}.txt`), `from <${email.trim()}>`);
    const looked = { dataDir: folder, exportDir: join(folder, 'exports'), mirror: place.path };
    for (const email of SPELLINGS) {
      const { naming } = await untouchedFiles({ ...looked, needles: [emailKey(email)], hasTexts: false });
      assert.equal(naming.length, SPELLINGS.length, email);
    }
    // A handle that stays open sees who comes later.
    await sweep(store, 'posts', [aPost(3, { creator: user(3, SPELLINGS[3] ?? '') })], 1);
    assert.deepEqual(
      (await reports.usersWith(SPELLINGS[2] ?? '')).toSorted((a, b) => a - b),
      [1, 3],
    );
  });
});
