import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emailKey } from '../../src/base/email.ts';
import { withoutAddresses } from '../../src/store/suppression/words.ts';

const part = fc.stringMatching(/^[a-z0-9]{1,8}([._+-][a-z0-9]{1,4})?$/);
const address = fc
  .tuple(part, fc.stringMatching(/^[a-z]{2,8}\.(org|example)$/))
  .map(([local, domain]) => `${local}@${domain}`);
const surroundings = fc.stringMatching(/^[ \n<>"'(),;:[\]/=?]{1,3}$/);

function without(text: string, email: string): string {
  return withoutAddresses(text, (found) => emailKey(found) === emailKey(email));
}

describe('taking an address out of a text', () => {
  it('finds it between any signs and in any case of letters, and leaves the rest as it is', () => {
    fc.assert(
      fc.property(address, surroundings, surroundings, fc.boolean(), (email, before, after, isUpper) => {
        const text = `words${before}${isUpper ? email.toUpperCase() : email}${after}words`;
        assert.equal(without(text, email), `words${before}[erased]${after}words`);
      }),
    );
  });

  it('changes no text that has only other addresses', () => {
    fc.assert(
      fc.property(address, fc.array(fc.oneof(address, fc.string({ unit: 'binary' }))), (email, words) => {
        const text = words.filter((word) => !word.includes(email)).join(' , ');
        assert.equal(without(text, email), text);
      }),
    );
  });

  it('takes time in proportion to the text, also to one that tries to make it slow', () => {
    for (const piece of ['a@', '@', 'a.', "'", '%40', 'a@a.', 'a'])
      for (const end of ['@x.org', ' @', ''])
        assert.ok(timeOf(piece.repeat(200_000) + end) < 3000, `${piece} took too long`);
  });
});

function timeOf(text: string): number {
  const began = process.cpuUsage().user;
  without(text, 'nobody@example.com');
  return (process.cpuUsage().user - began) / 1000;
}
