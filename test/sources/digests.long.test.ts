import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Letter } from '../../src/rules/letter.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import { place } from './place.ts';

const ENV = { DASHBOARD_URL: 'https://feedback.example.com', WEBHOOK_ALLOW: '127.0.0.1' };

describe('a digest over all sources', () => {
  it('is one message of the first source, with the name of its source in every item', async (t) => {
    const receiver = await openReceiver(t);
    const site = await place(t, { acme: { posts: 30 }, beta: { posts: 30 }, gamma: { posts: 1 } });
    const lines = '    rules_file: rules.yaml\n';
    site.write(['acme', 'beta', 'gamma'], { acme: lines, beta: lines });
    const rule = { name: 'all', what: 'digest', every: 'daily', at: '00:00', sources: 'all', to: ['team'] };
    const file = { channels: { team: { slack: receiver.url } }, rules: [rule] };
    writeFileSync(join(site.folder, 'rules.yaml'), JSON.stringify(file));
    for (const name of ['acme', 'beta'])
      assert.equal((await site.run(['sync', 'posts', '--source', name], ENV)).code, 0);

    const preview = await site.run(['rules', 'preview', 'all', '--source', 'acme', '--json'], ENV);
    assert.equal(preview.code, 0, preview.stderr);
    const { subject, intro, sections, link } = JSON.parse(preview.stdout) as Letter;
    assert.match(subject, /^Feedback of all sources of the last 1 day, /);
    assert.match(intro, /Not in this message: gamma\./);
    assert.equal(link, 'https://feedback.example.com');
    const items = sections.flatMap((section) => section.lines);
    const named = items.map(({ text, link: at }) => {
      const [name] = text.split(', ');
      assert.ok(at?.startsWith(`https://feedback.example.com/s/${name}/posts/`), `${text}: ${at}`);
      return name;
    });
    assert.deepEqual([...new Set(named)].toSorted(), ['acme', 'beta']);

    const sent = await site.run(['rules', 'test', 'all', '--source', 'acme'], ENV);
    assert.deepEqual([sent.code, receiver.received.length], [0, 1], sent.stderr);
    const others = await site.run(['rules', 'list', '--source', 'beta', '--json'], ENV);
    assert.deepEqual(JSON.parse(others.stdout), [], 'the first source of the file sends it');
  });
});
