import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runCli } from '../support/cli.ts';
import { openSite } from '../support/mirror-site.ts';

const FAST = { PUSH_PER_MINUTE: '100000', PUSH_SETTLE: '10ms' };

describe('feedback-mirror create', () => {
  it('puts one post into the outbox without asking the upstream, and each call is a post of its own', async (t) => {
    const site = await openSite(t);
    for (const id of [1, 2]) {
      const { code, stdout, stderr } = await site.run(['create', '--board', 'bugs', '--title', 'Same words']);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^outbox row ${id}: Queued\nIt is sent by "feedback-mirror start"`));
    }
    assert.equal(site.sandbox.requestCount, 0);
  });

  it('with --wait tells the post and where it is', async (t) => {
    const site = await openSite(t);
    const { code, stdout } = await site.run(['create', '--board', 'bugs', '--title', 'New', '--wait'], FAST);
    assert.equal(code, 0);
    const [entry, ...others] = site.sandbox.world.ledger();
    assert.deepEqual([entry?.board, entry?.title, others], ['bugs', 'New', []]);
    assert.match(stdout, new RegExp(`^post ${entry?.post_id}  http://.*/p/${entry?.post_id}/\n$`));
  });

  it('that the service takes ends what status says of a refused token', async (t) => {
    const site = await openSite(t);
    const refused = /the feedback service refused the token/;
    assert.equal((await site.run(['sync'], { FEEDBACK_API_TOKEN: 'another-token' })).code, 3);
    assert.match((await site.run(['status'])).stdout, refused);
    const args = ['create', '--board', 'bugs', '--title', 'New', '--wait'];
    assert.equal((await site.run(args, FAST)).code, 0);
    assert.doesNotMatch((await site.run(['status'])).stdout, refused);
  });

  it('goes out as a customer, with the text from standard input and a name from the e-mail', async (t) => {
    const site = await openSite(t);
    const args = [
      'create',
      '--board',
      'bugs',
      '--title',
      'T',
      '--content',
      '-',
      '--email',
      'ada@example.com',
    ];
    const env = { ...site.env, ...FAST };
    const { code, stdout, stderr } = await runCli([...args, '--wait', '--json'], {
      cwd: site.folder,
      env,
      input: 'one\ntwo\n',
    });
    assert.deepEqual([code, stderr], [0, '']);
    const [entry] = site.sandbox.world.ledger();
    assert.deepEqual([entry?.content, entry?.email], ['one\ntwo', 'ada@example.com']);
    const shown = JSON.parse(stdout) as { id: number; state: string; post_id: number };
    assert.deepEqual([shown.id, shown.state, shown.post_id], [1, 'confirmed', entry?.post_id]);
  });

  it('refuses a board that a whole mirror does not know, as an import does, and takes it when told to', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const args = ['create', '--board', 'nope', '--title', 'T'];
    const { code, stderr } = await site.run(args);
    assert.equal(code, 2);
    assert.match(stderr, /no board is known as "nope"; nothing was changed\n.*--accept-unknown-boards/);
    assert.equal((await site.run([...args, '--accept-unknown-boards'])).code, 0);
  });

  it('ends with 5 when the upstream says no, with its reason', async (t) => {
    const site = await openSite(t);
    const args = ['create', '--board', 'nowhere', '--title', 'T', '--wait'];
    const { code, stdout } = await site.run(args, FAST);
    assert.equal(code, 5);
    assert.match(stdout, /^outbox row 1: Rejected, the upstream answered 400: .*There is no board/);
    assert.match(stdout, /feedback-mirror outbox show 1/);
  });

  it('ends with 3 for a refused token and 4 without a connection; the post stays and is named', async (t) => {
    const site = await openSite(t);
    const args = ['create', '--board', 'bugs', '--title', 'T', '--wait'];
    const refused = await site.run(args, { ...FAST, FEEDBACK_API_TOKEN: 'another-token' });
    assert.deepEqual([refused.code, refused.stdout.slice(0, 21)], [3, 'outbox row 1: Queued,']);
    assert.match(refused.stderr, /Nothing is lost: 1 row waits in the outbox\. Put a valid token/);
    await site.sandbox.close();
    const alone = await site.run([...args, '--data-dir', 'other'], FAST);
    assert.deepEqual([alone.code, alone.stdout.slice(0, 21)], [4, 'outbox row 1: Queued,']);
    assert.match(
      alone.stderr,
      /gave no usable answer for 5 s: .*\n.*creating it again would make a second post/,
    );
  });

  it('ends with 3 for a board that the token may not post to, and does not call the token wrong', async (t) => {
    const site = await openSite(t, { faults: 'forbidden on=creates' });
    const { code, stderr } = await site.run(['create', '--board', 'bugs', '--title', 'T', '--wait'], FAST);
    assert.equal(code, 3);
    assert.match(
      stderr,
      /has answered posts to the board bugs with 403 since .*Nothing is lost: 1 row waits/s,
    );
    assert.match(stderr, /may lack the permission to post there/);
    assert.doesNotMatch(stderr, /FEEDBACK_API_TOKEN/);
    const { stdout } = await site.run(['status']);
    assert.match(stdout, /\nNot sent: the upstream has answered posts to the board bugs with 403 since /);
    const { checks } = JSON.parse((await site.run(['doctor', '--json'])).stdout) as {
      checks: { name: string; state: string; detail: string; advice: string | null }[];
    };
    const outbox = checks.find(({ name }) => name === 'outbox');
    assert.equal(outbox?.state, 'warn');
    assert.match(outbox.detail, /to the board bugs with 403 since /);
    assert.match(outbox.advice ?? '', /may lack the permission/);
  });

  it('checks a post by the rules of an import', async (t) => {
    const site = await openSite(t);
    const wrong: [string[], RegExp][] = [
      [['--title', 'T'], /--board is missing/],
      [['--board', 'bugs'], /--title is missing/],
      [['--board', 'bugs', '--title', ' '], /this is no post: title is blank/],
      [['--board', 'bugs', '--title', 'a\nb'], /title has a line break/],
      [['--board', 'bugs', '--title', 'T', '--email', 'x'], /email is not one e-mail address/],
    ];
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await site.run(['create', ...args]);
      assert.deepEqual([code, stdout], [2, ''], String(args));
      assert.match(stderr, message);
    }
  });
});
