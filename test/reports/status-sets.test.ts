import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { statusSets } from '../../src/reports/status-sets.ts';

const status = (id: number, name: string) => ({ id, name, color: '#000000' });
const KNOWN = [status(1, 'Open'), status(2, ' SHIPPED '), status(3, 'Won’t do'), status(4, 'Live')];

const idsOf = (found: { id: number }[]): number[] => found.map(({ id }) => id);

describe('the statuses that end a post’s way', () => {
  it('are known by their names, in any case and with any apostrophe', () => {
    const { delivered, finished } = statusSets(KNOWN, {});
    assert.deepEqual(
      [idsOf(delivered), idsOf(finished)],
      [
        [2, 4],
        [2, 4, 3],
      ],
    );
  });

  it('are those of the setting, which may name one that is gone', () => {
    const { delivered, finished, unknown } = statusSets(KNOWN, { usualDelivered: ['live', 'Gone'] });
    assert.deepEqual([idsOf(delivered), idsOf(finished), unknown], [[4], [4, 3], ['Gone']]);
  });

  it('are those that a person names, whatever the setting says', () => {
    const { delivered, unknown } = statusSets(KNOWN, { delivered: ['open'], usualDelivered: ['Gone'] });
    assert.deepEqual([idsOf(delivered), unknown], [[1], []]);
  });
});
