import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openSite, type Site } from '../support/mirror-site.ts';

async function siteWithZeppelins(t: Parameters<typeof openSite>[0]): Promise<Site> {
  const site = await openSite(t, { posts: 3 });
  site.sandbox.world.addPost({ board: 'bugs', title: 'A zeppelin\u001b[31m', content: 'It is late.' });
  site.sandbox.world.addPost({ board: 'mobile', title: 'Late', content: 'The zeppelins are late again.' });
  await site.run(['sync']);
  return site;
}

describe('feedback-mirror search', () => {
  it('shows each post with where it is, its matches marked, and nothing that moves the cursor', async (t) => {
    const site = await siteWithZeppelins(t);
    const requests = site.sandbox.requestCount;
    const { code, stdout, stderr } = await site.run(['search', 'zeppelin']);
    assert.deepEqual([code, stderr], [0, '']);
    const [first, second] = stdout.split('\n\n').map((hit) => hit.trimEnd().split('\n'));
    assert.equal(first?.[0], '#4  A «zeppelin» [31m');
    assert.match(first?.[1] ?? '', new RegExp(`^ {4}.+ {2}\\d+ votes? {2}${site.sandbox.url}/b/bugs/p/4/$`));
    assert.equal(first?.[2], '    It is late.');
    assert.deepEqual([second?.[0], second?.[2]], ['#5  Late', '    The «zeppelins» are late again.']);
    assert.equal(site.sandbox.requestCount, requests, 'the mirror answers alone');
  });

  it('takes several words, a board and a limit, and gives machines plain texts and their pieces', async (t) => {
    const site = await siteWithZeppelins(t);
    const args = ['search', 'late', 'zeppelin', '--board', 'mobile', '--limit', '1', '--json'];
    const { stdout, stderr } = await site.run(args);
    const { hits, unindexed } = JSON.parse(stdout) as { hits: Record<string, unknown>[]; unindexed: number };
    assert.deepEqual([hits.length, unindexed, stderr], [1, 0, '']);
    const { id, title, snippet, parts, boardSlug } = hits[0] ?? {};
    assert.deepEqual([id, title, snippet, boardSlug], [5, 'Late', 'The zeppelins are late again.', 'mobile']);
    assert.deepEqual((parts as { title: unknown }).title, [{ text: 'Late', isMatch: true }]);
  });

  it('refuses a quote that is not closed', async (t) => {
    const site = await siteWithZeppelins(t);
    const { code, stdout, stderr } = await site.run(['search', '"late zeppelin']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /a quote \("\) in the text is not closed/);
  });

  it('says in a sentence that there is nothing', async (t) => {
    const site = await siteWithZeppelins(t);
    for (const [text, sentence] of [
      ['nosuchword', /^No post has all of these words\./],
      ['"*"', /^There is no word in that to look for\.$/m],
    ] as const) {
      const { code, stdout, stderr } = await site.run(['search', text]);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, sentence);
    }
  });

  it('asks the service itself with --remote', async (t) => {
    const site = await siteWithZeppelins(t);
    site.sandbox.world.addPost({ board: 'bugs', title: 'A zeppelin that the mirror does not have' });
    const { code, stdout } = await site.run(['search', 'zeppelin', '--remote', '--board', 'bugs']);
    assert.equal(code, 0);
    assert.deepEqual(stdout.match(/^#\d+/gm)?.sort(), ['#4', '#6']);
    assert.equal(site.sandbox.requests.at(-1)?.operation, 'searchPosts');
    const none = await site.run(['search', 'zeppelin', '--remote', '--board', 'reporting']);
    assert.deepEqual([none.code, none.stdout], [2, '']);
    assert.match(none.stderr, /none of the 3 posts that the service found is of board "reporting"/);
  });

  it('refuses a limit that cannot be, a board that is not there and a mirror that was never made', async (t) => {
    const site = await openSite(t, { posts: 3 });
    const early = await site.run(['search', 'x']);
    assert.deepEqual([early.code, /there is no mirror/.test(early.stderr)], [2, true]);
    await site.run(['sync', 'posts']);
    for (const [args, reason] of [
      [['--limit', '51'], /--limit must be a whole number from 1 to 50/],
      [['--limit', 'x'], /--limit must be/],
      [['--board', 'nope'], /there is no board "nope"\nThe boards are /],
    ] as const) {
      const { code, stderr } = await site.run(['search', 'x', ...args]);
      assert.equal(code, 2);
      assert.match(stderr, reason);
    }
  });

  it('has posts like another beside it, and lets a person say that two are the same', async (t) => {
    const site = await siteWithZeppelins(t);
    const found = await site.run(['similar', '4', '--json']);
    const { posts } = JSON.parse(found.stdout) as { posts: { id: number; isSame: boolean }[] };
    assert.deepEqual([found.code, posts[0]?.id, posts[0]?.isSame], [0, 5, false]);
    const text = await site.run(['similar', '4']);
    assert.match(text.stdout, /^POST +LIKENESS +TITLE/);
    assert.match(text.stdout, /^#5 +\d+ % +Late/m);
    assert.equal(
      (await site.run(['similar', '--same', '4', '5'])).stdout,
      '4 and 5 are marked as the same.\n',
    );
    assert.match((await site.run(['similar', '5'])).stdout, /^#4 +marked as the same/m);
    const undone = await site.run(['similar', '--not-same', '5', '4']);
    assert.equal(undone.stdout, '5 and 4 are no longer marked as the same.\n');
    await site.run(['similar', '--same', '4', '5']);
    await site.run(['similar', '--same', '5', '1']);
    assert.equal(
      (await site.run(['similar', '--not-same', '1', '4'])).stdout,
      '1 and 4 are no longer marked as the same. Marks taken back: 1 and 5.\n',
    );
    for (const args of [['similar'], ['similar', '999'], ['similar', '--same', '4'], ['similar', 'x']])
      assert.equal((await site.run(args)).code, 2, args.join(' '));
  });
});
