import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ALL, CONFIRMED, done, FILE, olderCopy, putBack, sent, siteWithFile, states } from './older-copy.ts';

describe('a mirror that is an older copy', () => {
  it('looks for the rows that were sent since instead of sending them again', async (t) => {
    const site = await siteWithFile(t);
    await done(site, 'import', 'ideas.csv');
    await done(site, 'backup', 'copy.db');
    await done(site, 'import', 'ideas.csv', '--wait');
    assert.deepEqual(sent(site), ALL);
    assert.equal(await olderCopy(site), null);
    putBack(site);
    const read = await olderCopy(site);
    assert.deepEqual([read?.checking, read?.noticedAt, read?.isCovered], [3, null, true]);
    assert.deepEqual(states(site), ['ready', 'ready', 'ready']);
    await done(site, 'import', 'ideas.csv', '--wait');
    assert.deepEqual([sent(site), states(site)], [ALL, CONFIRMED]);
    assert.equal((await olderCopy(site))?.checking, 0);
    await done(site, 'sync');
    assert.equal(await olderCopy(site), null);
  });

  it('finds what was imported and sent after the copy, when the file is imported again', async (t) => {
    const site = await siteWithFile(t);
    await done(site, 'backup', 'copy.db');
    await done(site, 'import', 'ideas.csv', '--wait');
    putBack(site);
    await done(site, 'import', 'ideas.csv', '--wait');
    assert.deepEqual([sent(site), states(site)], [ALL, CONFIRMED]);
    writeFileSync(join(site.folder, 'more.csv'), `${FILE}Fourth,four,bugs,\n`);
    await done(site, 'import', 'more.csv', '--wait');
    assert.deepEqual(sent(site), [...ALL, 'Fourth']);
  });

  it('shows and sends nothing of people who were erased after the backup', async (t) => {
    const site = await siteWithFile(t);
    site.sandbox.world.addPost({ title: 'Zeppelin wishes', content: 'From me.', email: 'ada@example.com' });
    await done(site, 'sync');
    await done(site, 'import', 'ideas.csv');
    await done(site, 'backup', 'copy.db');
    await done(site, 'erase', '--email', 'ada@example.com', '--yes');
    putBack(site);
    assert.doesNotMatch(await done(site, 'search', 'zeppelin'), /zeppelin wishes/i);
    const bytes = readFileSync(site.mirror);
    for (const word of ['Zeppelin', 'ada@example.com']) assert.equal(bytes.includes(word), false, word);
    const people = await done(site, 'query', "SELECT count(*) FROM users WHERE email = 'ada@example.com'");
    assert.match(people, /\n\s*0\s*$/);
    assert.deepEqual(states(site), ['ready', 'cancelled', 'ready']);
    assert.equal((await olderCopy(site))?.erasures, 1);
    assert.match(await done(site, 'status'), /1 person erased since was erased again/);
    await site.run(['import', 'ideas.csv', '--wait']);
    assert.deepEqual(sent(site), ['First', 'Third']);
  });
});

describe('restore --from a backup', () => {
  it('puts the backup in the place of the mirror, keeps both as they were, and sends nothing twice', async (t) => {
    const site = await siteWithFile(t);
    const backup = join(site.folder, 'copy.db');
    await done(site, 'import', 'ideas.csv');
    await done(site, 'backup', 'copy.db');
    await done(site, 'import', 'ideas.csv', '--wait');
    await done(site, 'erase', '--email', 'ada@example.com', '--yes');
    const bytes = readFileSync(backup);
    const refused = await site.run(['restore', '--from', 'copy.db']);
    assert.deepEqual([refused.code, states(site)], [2, CONFIRMED]);
    assert.match(refused.stderr, /there is a mirror at .* already; nothing was restored/);
    const restored = JSON.parse(
      await done(site, 'restore', '--from', 'copy.db', '--yes', '--json'),
    ) as Restored;
    // The row of the person who was erased since is not sent at all.
    assert.deepEqual([restored.checking, restored.erasures, restored.isCovered], [2, 1, true]);
    assert.deepEqual(states(site, join(site.folder, restored.keptAs)), CONFIRMED);
    assert.ok(bytes.equals(readFileSync(backup)));
    await site.run(['import', 'ideas.csv', '--wait']);
    assert.deepEqual(sent(site), ALL);
    const told = await done(site, 'restore', '--from', 'copy.db', '--yes');
    assert.match(
      told,
      /2 outbox rows may have been sent since then.*\n1 person erased after that moment: erased again/,
    );
  });
});

interface Restored {
  checking: number;
  erasures: number;
  isCovered: boolean;
  keptAs: string;
}
