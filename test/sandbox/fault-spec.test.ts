import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { parseFaults } from '../../src/sandbox/fault-kinds.ts';
import { type FaultRule, Faults } from '../../src/sandbox/faults.ts';

test('rules, selectors and settings are read', () => {
  assert.deepEqual(
    parseFaults(
      ' throttle form=date retry-after=2 nth=3 ;\n status code=503 on=creates from=2 to=5 every=2;; latency ms=0 p=0.5 times=1 ',
    ),
    [
      { kind: 'throttle', form: 'date', retryAfter: '2', nth: 3 },
      { kind: 'status', code: 503, on: 'creates', from: 2, to: 5, every: 2 },
      { kind: 'latency', ms: 0, p: 0.5, times: 1 },
    ],
  );
  assert.deepEqual(parseFaults(''), []);
  assert.deepEqual(parseFaults(' ; '), []);
});

test('to= is a number of a request or an address', () => {
  assert.deepEqual(
    parseFaults('redirect to=3; redirect to=https://example.com/a?b=c to=7; next-away target=//x'),
    [
      { kind: 'redirect', to: 3 },
      { kind: 'redirect', target: 'https://example.com/a?b=c', to: 7 },
      { kind: 'next-away', target: '//x' },
    ],
  );
});

test('quoted values hold spaces and semicolons, and next-shape takes any JSON', () => {
  assert.deepEqual(
    parseFaults(
      'next-shape value=""; next-shape value={"a;b":"c d"}; next-shape value=false; next-away to="a b;c"',
    ),
    [
      { kind: 'next-shape', value: '' },
      { kind: 'next-shape', value: { 'a;b': 'c d' } },
      { kind: 'next-shape', value: false },
      { kind: 'next-away', target: 'a b;c' },
    ],
  );
});

test('a wrong rule is refused by number, with what is wrong and what is allowed', () => {
  const wrong: [string, RegExp][] = [
    [
      'latency; throtle nth=1',
      /rule 2 \(throtle nth=1\): unknown kind "throtle"; the kinds are latency, throttle,/,
    ],
    ['toString', /unknown kind "toString"/],
    ['latency ms', /"ms" is not of the form key=value/],
    ['latency code=500', /latency does not take "code"; it takes on, nth, from, to, every, p, times, ms/],
    ['reset to=http://x', /to=http:\/\/x is not a whole number from 1 up/],
    [
      'reset on=everything',
      /on=everything is not known; it can be posts, search, comments, create, as-user, lists/,
    ],
    ['reset-after on=posts', /reset-after cannot act on posts; by default it acts on creates/],
    ['empty on=creates', /empty cannot act on creates; by default it acts on lists/],
    ['reset nth=0', /nth=0 is not a whole number from 1 up/],
    ['reset p=2', /p=2 is not a probability/],
    ['reset p=', /p= is not a probability/],
    ['latency ms=-1', /ms=-1 is not a whole number from 0 up/],
    ['status code=99', /code=99 is not a status code/],
    ['throttle form=later', /form=later is not known; it can be seconds, date, none, garbage/],
    ['status echo=maybe', /echo=maybe is not known; it can be yes, no/],
    ['next-shape value={', /value=\{ is not JSON/],
  ];
  for (const [spec, message] of wrong) {
    assert.throws(
      () => parseFaults(spec),
      (error) => {
        assert.ok(error instanceof AppError, spec);
        assert.equal(error.code, 'usage');
        assert.match(error.message, message);
        return true;
      },
    );
  }
});

test('the typed form is checked as well', () => {
  const typed = (rule: object): void => new Faults([], 1).set([rule as FaultRule]);
  typed({ kind: 'status', code: 503, nth: 2 });
  assert.throws(() => typed({ kind: 'nonsense' }), /unknown kind "nonsense"/);
  assert.throws(() => typed({ kind: 'reset', on: 'nobody' }), /on=nobody is not known/);
  assert.throws(() => typed({ kind: 'no-id', on: 'lists' }), /no-id cannot act on lists/);
});

/** Which of the first requests a rule acts on. */
function hits(spec: string, requests = 10, seed = 1): number[] {
  const faults = new Faults(spec, seed);
  return Array.from({ length: requests }, (_, n) => n + 1).filter(() =>
    faults.meet('listPosts').first('instead'),
  );
}

test('selectors choose requests', () => {
  assert.deepEqual(hits('reset nth=3'), [3]);
  assert.deepEqual(hits('reset from=8'), [8, 9, 10]);
  assert.deepEqual(hits('reset to=2'), [1, 2]);
  assert.deepEqual(hits('reset from=3 to=4'), [3, 4]);
  assert.deepEqual(hits('reset every=4'), [4, 8]);
  assert.deepEqual(hits('reset times=2'), [1, 2]);
  assert.deepEqual(hits('reset every=2 times=2 from=3'), [4, 6]);
  assert.deepEqual(hits('reset on=comments'), []);
});

test('chance is seeded', () => {
  const some = hits('reset p=0.3', 1000);
  assert.deepEqual(hits('reset p=0.3', 1000), some);
  assert.notDeepEqual(hits('reset p=0.3', 1000, 2), some);
  assert.ok(some.length > 230 && some.length < 370, String(some.length));
});

test('firings are counted by kind, kept when the rules change, and 0 for what never happened', () => {
  const faults = new Faults('reset nth=2; hang nth=99', 1);
  for (let n = 0; n < 3; n++) faults.meet('listPosts').first('instead');
  assert.deepEqual(faults.fired(), { reset: 1, hang: 0 });
  faults.set('reset');
  faults.meet('createPost').first('instead');
  faults.set('');
  assert.equal(faults.meet('createPost').first('instead'), undefined);
  assert.deepEqual(faults.fired(), { reset: 2, hang: 0 });
});

test('every rule counts every matching request, whichever rule acts', () => {
  const faults = new Faults('status nth=1; reset nth=2', 1);
  assert.equal(faults.meet('listPosts').first('instead')?.kind, 'status');
  assert.equal(faults.meet('listPosts').first('instead')?.kind, 'reset');
});
