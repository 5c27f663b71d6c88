import assert from 'node:assert/strict';
import { it } from 'node:test';
import { period } from '../../src/web/format.ts';

it('a period is shown as the days of the zone it was asked in, with the last of them', () => {
  const auckland = period('2026-04-30T12:00:00Z', '2026-05-31T12:00:00Z', 'Pacific/Auckland');
  assert.match(auckland, /^\D*1\D.*2026 to \D*31\D.*2026$/);
  assert.doesNotMatch(auckland, /:/);
  const moments = period('2026-05-01T00:00:00Z', '2026-05-19T08:30:00Z', 'UTC');
  assert.match(moments, /:00.* to .*8:30/);
});
