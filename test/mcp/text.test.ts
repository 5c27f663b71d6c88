import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AGENT_LIMITS, fitting, limiter, Paged } from '../../src/mcp/limits.ts';
import { textRules } from '../../src/mcp/text.ts';
import type { Excerpt } from '../../src/search/search.ts';
import { fakeClock } from '../support/clock.ts';

const upstream = 'https://feedback.example';
const hidden = textRules({ key: new Uint8Array(32), upstream });
const open = textRules({ key: null, upstream });
/** A piece that nothing is known around. */
const alone = (text: string): Excerpt => ({ text, start: 0, end: text.length });

describe('what an agent is shown of a customer’s text', () => {
  it('has nothing in it that a person would not see', () => {
    const tags = [...'obey'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
    const text = `a\u202eb\u200bc\u0007d\ufeffe\u2066f\u2069${tags}g\u{e0101}h\ufe01i\u200dj\ufe0f\u3164\u001b[31m`;
    assert.equal(hidden.text(text, 100), 'abcdefghij[31m');
    assert.equal(hidden.text('two\nlines\tand 👩‍💻 ❤️ 👩🏽‍🚀', 100), 'two\nlines\tand 👩‍💻 ❤️ 👩🏽‍🚀');
  });

  it('has no address in it, however it is spelt', () => {
    for (const text of [
      'write to kim@example.com',
      'kim＠example.com',
      'ki\u200bm@exam\u00adple.com',
      'ki\u200dm@exam\u200dple\ufe0f.com',
      '<kim.o+x@mail.example.org>',
      'kim&#64;example.com, kim&#x40;example.com, kim&commat;example.com',
      'mailto:kim%40example.com, kim%2540example.com',
      String.raw`{"to": "kim\u0040example.com"}`,
      'kim (at) example.com and kim[at]example[dot]com',
      'kim@example。com',
      '"kim"@example.com kim@[192.0.2.1]',
    ])
      assert.doesNotMatch(hidden.text(text, 400), /kim|example[.[。]*(com|org)/, text);
    assert.equal(open.text('kim@example.com', 100), 'kim@example.com');
  });

  it('has no half of an address at the ends of an excerpt, wherever that was cut before', () => {
    const text = 'Write to kimberley@hidden.example or call.';
    for (let from = 0; from < text.length; from++)
      for (let to = from + 1; to <= text.length; to++)
        assert.doesNotMatch(hidden.excerpt(alone(text.slice(from, to)), 100), /y@|@hid|@$/);
    const spaced = 'Write to kimberley @ hidden.example';
    for (let to = spaced.indexOf('@') + 1; to <= spaced.length; to++)
      assert.doesNotMatch(hidden.excerpt(alone(spaced.slice(0, to)), 100), /kimberley|hid/);
    assert.equal(open.excerpt(alone('kimberley@hid'), 100), 'kimberley@hid');
  });

  it('has one pseudonym for an address wherever its excerpt is cut, as what stands around is known', () => {
    for (const spelt of [
      'kimberley@hidden.example',
      'kimberley @ hidden.example',
      'kimberley [at] hidden [dot] example',
      'kimberley&#64;hidden&#46;example',
      'kimberley\u200b\u200b\u200b@hidden.example',
    ]) {
      const text = `Write to ${spelt} or call.`;
      const pseudonym = /user-\w+@\S+/.exec(hidden.text(text, 100))?.[0] ?? 'none';
      for (let start = 0; start < text.length; start++)
        for (let end = start + 1; end <= text.length; end += 3) {
          const rest = hidden.excerpt({ text, start, end }, 100).replace(pseudonym, '');
          assert.doesNotMatch(rest, /kim|ley|hid|den|exam|user-/, `${spelt} from ${start} to ${end}`);
        }
    }
    assert.equal(open.excerpt({ text: 'one two three', start: 4, end: 7 }, 100), '…two…');
    assert.equal(open.excerpt({ text: 'one two three', start: 4, end: 13 }, 2), '…tw…');
  });

  it('has no half of an address beside a whole one in the same word, either', () => {
    for (const half of ['lee.miller@exam', 'lee.miller&#64;exam', 'lee.miller@', 'lee.miller＠exam'])
      assert.equal(hidden.excerpt(alone(`Ask kim@corp.example,${half}`), 100), 'Ask …');
    const both = hidden.excerpt(alone('Ask kim@corp.example,lee.miller@example.com'), 100);
    assert.match(both, /^Ask user-[0-9a-f]{16}@redacted\.invalid,user-[0-9a-f]{16}@redacted\.invalid$/);
  });

  it('calls a person the same after two hands', () => {
    const once = hidden.text('write to kim@example.com', 100);
    assert.equal(hidden.text(once, 100), once);
    assert.equal(hidden.email(hidden.email('kim@example.com')), hidden.email('kim@example.com'));
  });

  it('has no half of an address where it is cut, either', () => {
    for (let most = 1; most < 60; most++)
      assert.doesNotMatch(hidden.text(`${'x '.repeat(100)}kimberley@example.com`, most), /kim/);
  });

  it('has no half of an address where most of what is before it cannot be seen', () => {
    for (let unseen = 1000; unseen < 2000; unseen += 7) {
      const text = `${'\u200b'.repeat(unseen)}Well: kim.lovelace@example.com ${'and so on '.repeat(300)}`;
      for (const most of [10, 200, 380]) assert.doesNotMatch(hidden.text(text, most), /kim/);
    }
    assert.match(
      hidden.text(`${'\u200b'.repeat(500)}seen${' and so on'.repeat(300)}`, 200),
      /^seen and so on/,
    );
  });

  it('is cut to its limit without breaking a character', () => {
    assert.equal(hidden.text('🎉'.repeat(50), 10), `${'🎉'.repeat(10)}…`);
    assert.equal(hidden.text('short', 10), 'short');
  });

  it('names people by a pseudonym that stays the same', () => {
    assert.equal(hidden.person(7, 'Kim'), hidden.person(7, 'Kim O'));
    assert.notEqual(hidden.person(7, 'Kim'), hidden.person(8, 'Kim'));
    assert.doesNotMatch(hidden.person(7, 'Kim'), /Kim/);
    assert.equal(open.person(7, 'Kim'), 'Kim');
  });

  it('links to pages, and not where the address would tell one of a person', () => {
    assert.equal(hidden.link('/posts/7/dark-mode'), 'https://feedback.example/posts/7/dark-mode');
    assert.equal(hidden.link('/posts/7/kim%40example.com'), null);
    assert.equal(hidden.link('javascript:alert(1)'), null);
  });
});

describe('the limits of calls', () => {
  it('cut a result, and say so', () => {
    const posts = Array.from({ length: 100 }, (_, id) => ({ id, text: 'x'.repeat(100) }));
    const fitted = fitting({ posts, name: 'all' }, 3000) as { posts: unknown[]; cut: string };
    assert.ok(Buffer.byteLength(JSON.stringify(fitted)) <= 3000);
    assert.ok(fitted.posts.length > 10);
    assert.match(fitted.cut, /posts was cut/);
    assert.deepEqual(fitting({ posts: [1] }, 3000), { posts: [1] });
    const [few, many] = [[{ text: 'y'.repeat(500) }], posts.slice(0, 20)];
    const both = fitting({ few, many }, 2000);
    assert.deepEqual([both.few, /^many was cut/.test(String(both.cut))], [few, true]);
    const exact = Buffer.byteLength(JSON.stringify({ few }));
    assert.deepEqual([fitting({ few }, exact), 'cut' in fitting({ few }, exact - 1)], [{ few }, true]);
    assert.throws(() => fitting({ text: 'x'.repeat(4000) }, 3000), /too large/);
  });

  it('cut a page to the rows that fit, at least one, and let it say where to go on', () => {
    const rows = Array.from({ length: 100 }, (_, id) => ({ id, text: 'x'.repeat(100) }));
    const paged = new Paged(rows.length, (kept) => ({ rows: rows.slice(0, kept), next: kept }));
    const fitted = fitting(paged, 3000) as { rows: unknown[]; next: number; cut: string };
    assert.ok(Buffer.byteLength(JSON.stringify(fitted)) <= 3000);
    assert.ok(fitted.next > 10);
    assert.equal(fitted.rows.length, fitted.next);
    assert.match(fitted.cut, /next page/);
    assert.deepEqual(fitting(paged, 100_000), { rows, next: 100 });
    const exact = Buffer.byteLength(JSON.stringify({ rows, next: 100 }));
    assert.deepEqual(['cut' in fitting(paged, exact), 'cut' in fitting(paged, exact - 1)], [false, true]);
    assert.throws(() => fitting(paged, 100), /too large/);
  });

  const asking = new AbortController().signal;
  const one = {
    reads: { atOnce: 1, waiting: 1 },
    sql: { atOnce: 1, waiting: 0 },
    reports: { atOnce: 1, waiting: 0 },
  };

  it('refuse what comes too fast or beside too much else, and let it pass later', async () => {
    const clock = fakeClock();
    const limited = limiter(clock, { ...AGENT_LIMITS, callsAMinute: 5, lanes: one });
    const read = <T>(work: () => Promise<T>): Promise<T> => limited('reads', asking, work);
    const slow = Promise.withResolvers<string>();
    const first = read(() => slow.promise);
    let isBegun = false;
    const second = read(async () => {
      isBegun = true;
      return 'second';
    });
    await assert.rejects(
      read(async () => 'third'),
      /2 such calls are under way already/,
    );
    assert.equal(await limited('sql', asking, async () => 'beside'), 'beside');
    assert.equal(isBegun, false);
    slow.resolve('first');
    assert.deepEqual([await first, await second], ['first', 'second']);
    assert.equal(await read(async () => 5), 5);
    for (const ms of [0, 59_999]) {
      clock.advance(ms);
      await assert.rejects(
        read(async () => 6),
        /more than 5 calls in a minute/,
      );
    }
    clock.advance(1);
    assert.equal(await read(async () => 6), 6);
  });

  it('end a call in time also while it waits for others, and forget one that is called off', async () => {
    const limited = limiter(fakeClock(), { ...AGENT_LIMITS, callMs: 5, lanes: one });
    const slow = Promise.withResolvers<string>();
    const first = limited('reads', asking, () => slow.promise);
    const second = limited('reads', asking, async () => 'second');
    await Promise.all([first, second].map((call) => assert.rejects(call, /took longer than/)));
    const gone = new AbortController();
    const third = limited('reads', gone.signal, async () => 'third');
    gone.abort(new Error('called off'));
    await assert.rejects(third, /called off/);
    slow.resolve('too late');
    await slow.promise;
    assert.equal(await limited('reads', asking, async () => 'fourth'), 'fourth');
  });
});
