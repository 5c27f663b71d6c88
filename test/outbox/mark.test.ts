import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { marksIn } from '../../src/outbox/decide/whose.ts';
import { markLabel } from '../../src/outbox/send/mark.ts';
import { push } from '../../src/outbox/send/push.ts';
import { type Bench, benchFor, MINUTE, reconcileRow } from './bench.ts';
import { confirmed, unknown } from './scripted-upstream.ts';

interface Asked {
  title: string;
  content: string;
}

/** A service that keeps, changes or drops the last line of what it is given, and whose search finds words. */
function marking(t: TestContext, shown: (asked: Asked) => Partial<Asked> = () => ({})): Bench {
  const bench = benchFor(t);
  const { upstream } = bench;
  upstream.duringCreate = (asked) => {
    const { title, content } = asked as Asked;
    const post = upstream.publish({ title, content, ...shown({ title, content }) });
    upstream.outcomes = upstream.outcomes.length > 0 ? upstream.outcomes : [confirmed(post.id)];
  };
  const search = async (text: string) => ({
    rows: upstream.posts.filter(({ content }) => content.toUpperCase().includes(text)),
    rejects: [],
  });
  return { ...bench, context: { ...bench.context, client: { ...upstream.client, search }, mark: 'owner' } };
}

describe('the reference mark', () => {
  it('is the last line of an owner’s post, and of no customer’s unless all are to have one', async (t) => {
    const bench = marking(t);
    await push(bench.context, await bench.add());
    await push(
      bench.context,
      await bench.add({ title: 'Theirs', email: 'kim@example.com', full_name: 'Kim' }),
    );
    const [own, theirs] = bench.upstream.created as Asked[];
    assert.match(own?.content ?? '', /^My eyes hurt at night\.\n\nRef FM-[0-9A-Z]{8}$/);
    assert.deepEqual(marksIn({ content: theirs?.content ?? '' }), []);
  });

  it('follows the words of the import, and is another one for each row', async (t) => {
    const bench = marking(t);
    bench.store.markBatch('canny', 'Imported from Canny', bench.clock.now());
    for (const title of ['One', 'Two']) await push(bench.context, await bench.add({ title }, 'canny'));
    const marks = (bench.upstream.created as Asked[]).map(({ content }) => content.split('\n').at(-1) ?? '');
    for (const mark of marks) assert.match(mark, /^Imported from Canny · Ref FM-/);
    assert.equal(new Set(marks).size, 2);
  });

  it('confirms an unclear row by search alone, in any words, once a post has shown that it is kept', async (t) => {
    const bench = marking(t, ({ content }) => ({
      title: 'Moderated',
      content: content.split('\n').at(-1) ?? '',
    }));
    await push(bench.context, await bench.add({ title: 'First' }));
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    await push(bench.context, id);
    bench.clock.advance(2 * MINUTE);
    const before = bench.upstream.pagesRead;
    assert.equal(await reconcileRow(bench.context, id), 'found');
    assert.equal(bench.upstream.pagesRead, before);
    assert.equal((await bench.row(id)).matched, 'marked');
  });

  it('that two whole reads do not show was not made: the row is sent again, with the same mark', async (t) => {
    const bench = marking(t);
    await push(bench.context, await bench.add({ title: 'First' }));
    const id = await bench.add();
    bench.upstream.outcomes = [unknown()];
    const publish = bench.upstream.duringCreate;
    bench.upstream.duringCreate = () => void bench.upstream.publish({ title: 'Dark mode?' });
    await push(bench.context, id);
    bench.upstream.duringCreate = publish;
    bench.clock.advance(2 * MINUTE);
    assert.equal(await reconcileRow(bench.context, id), 'send again');
    await push(bench.context, id);
    const sent = (bench.upstream.created as Asked[]).slice(1).map(({ content }) => content);
    assert.equal(sent[0], sent[1]);
  });

  it('that a board does not keep is told once, and sent there no more', async (t) => {
    const bench = marking(t, ({ content }) => ({ content: content.split('\n')[0] ?? '' }));
    const notes: (string | null)[] = [];
    for (const title of ['One', 'Two']) {
      const result = await push(bench.context, await bench.add({ title }));
      notes.push(result.sent ? result.note : 'not sent');
    }
    assert.match(notes[0] ?? '', /does not keep the reference mark on the board ideas/);
    assert.equal(notes[1], null);
    assert.deepEqual(marksIn(bench.upstream.created[1] as Asked), []);
  });

  it('is read back although the sender stops with the answer, as a command does after its last row', async (t) => {
    const bench = marking(t, () => ({ content: '' }));
    const stop = new AbortController();
    const endAttempt: typeof bench.store.endAttempt = (end) => {
      stop.abort(new Error('stopped'));
      return bench.store.endAttempt(end);
    };
    const search = async (_text: string, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      return { rows: bench.upstream.posts, rejects: [] };
    };
    const page = () => Promise.reject(new Error('the list is away'));
    const store = { ...bench.store, endAttempt };
    const client = { ...bench.context.client, search, page };
    const clock = { ...bench.clock, sleep: () => new Promise<void>(() => undefined) };
    await push({ ...bench.context, store, client, clock, signal: stop.signal }, await bench.add());
    assert.deepEqual(bench.store.marks(), { ideas: 'lost' });
  });

  it('of an import is one short line', () => {
    assert.equal(markLabel(' Imported from Canny '), 'Imported from Canny');
    for (const text of ['two\nlines', 'x'.repeat(81)]) assert.throws(() => markLabel(text), /one line/);
  });
});
