import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  idOf,
  isOn,
  listOf,
  numberOf,
  required,
  textIn,
  wordIn,
  zoneOf,
} from '../../src/http/dashboard/parameters.ts';

describe('what a request says', () => {
  it('can be a text, and a blank text is null', () => {
    assert.deepEqual([textIn({ a: 'x' }, 'a'), textIn({ a: '' }, 'a'), textIn(null, 'a')], ['x', null, null]);
    for (const a of [['x', 'y'], 5, true]) assert.throws(() => textIn({ a }, 'a'), /"a" must be one text/);
  });

  it('can be a safe whole number from 1 up', () => {
    const given = ['1', '0042', 7, String(2 ** 53 - 1), '', null, undefined];
    assert.deepEqual(
      given.map((a) => numberOf({ a }, 'a')),
      [1, 42, 7, 2 ** 53 - 1, null, null, null],
    );
    for (const a of [
      '0',
      '-1',
      '1.5',
      '1e3',
      ' 1',
      'x',
      0,
      1.5,
      String(2 ** 53),
      '1'.repeat(17),
      ['1'],
      true,
    ])
      assert.throws(() => numberOf({ a }, 'a'), /"a" must be a whole number from 1 up/, String(a));
  });

  it('can be one of a list of words', () => {
    const words = ['votes', 'newest'] as const;
    assert.deepEqual([wordIn({ a: 'votes' }, 'a', words), wordIn({}, 'a', words)], ['votes', null]);
    assert.throws(() => wordIn({ a: 'Votes' }, 'a', words), /"a" can be votes, newest/);
  });

  it('can be a list without repetitions', () => {
    assert.deepEqual(listOf({ a: ' x, y,,x ,' }, 'a'), ['x', 'y']);
    assert.deepEqual(listOf({}, 'a'), []);
  });

  it('can be a time zone that exists', () => {
    assert.deepEqual([zoneOf({ a: 'europe/berlin' }, 'a'), zoneOf({}, 'a')], ['Europe/Berlin', null]);
    assert.throws(() => zoneOf({ a: 'Mars/Olympus' }, 'a'), /"Mars\/Olympus" is no time zone/);
  });

  it('is a ticked box only if it is true', () => {
    assert.deepEqual(
      [true, 'true', 1, undefined].map((a) => isOn({ a }, 'a')),
      [true, false, false, false],
    );
  });

  it('is refused as missing where it is required', () => {
    assert.equal(idOf({ params: { id: '12' } }), 12);
    assert.throws(() => idOf({ params: {} }), /"id" is missing/);
    assert.equal(required(0, 'a'), 0);
  });
});
