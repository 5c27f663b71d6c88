import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  idOf,
  isOn,
  listOf,
  numberOf,
  oneOf,
  required,
  textOf,
  zoneOf,
} from '../../src/http/dashboard/parameters.ts';

describe('what a request says', () => {
  it('is one text, or nothing where it is blank', () => {
    assert.deepEqual([textOf({ a: 'x' }, 'a'), textOf({ a: '' }, 'a'), textOf(null, 'a')], ['x', null, null]);
    for (const a of [['x', 'y'], 5, true]) assert.throws(() => textOf({ a }, 'a'), /"a" must be one text/);
  });

  it('is a whole number from 1 up that loses no digit', () => {
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

  it('is one of a few words', () => {
    const words = ['votes', 'newest'] as const;
    assert.deepEqual([oneOf({ a: 'votes' }, 'a', words), oneOf({}, 'a', words)], ['votes', null]);
    assert.throws(() => oneOf({ a: 'Votes' }, 'a', words), /"a" can be votes, newest/);
  });

  it('is a list, each of it once', () => {
    assert.deepEqual(listOf({ a: ' x, y,,x ,' }, 'a'), ['x', 'y']);
    assert.deepEqual(listOf({}, 'a'), []);
  });

  it('is a time zone that there is', () => {
    assert.deepEqual([zoneOf({ a: 'europe/berlin' }, 'a'), zoneOf({}, 'a')], ['Europe/Berlin', null]);
    assert.throws(() => zoneOf({ a: 'Mars/Olympus' }, 'a'), /"Mars\/Olympus" is no time zone/);
  });

  it('is a ticked box only where it is true', () => {
    assert.deepEqual(
      [true, 'true', 1, undefined].map((a) => isOn({ a }, 'a')),
      [true, false, false, false],
    );
  });

  it('is missing where it cannot be done without', () => {
    assert.equal(idOf({ params: { id: '12' } }), 12);
    assert.throws(() => idOf({ params: {} }), /"id" is missing/);
    assert.equal(required(0, 'a'), 0);
  });
});
