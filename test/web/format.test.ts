import assert from 'node:assert/strict';
import { it } from 'node:test';
import { date, isolated, period, time, withDates } from '../../src/web/format.ts';

it('a period is shown as the days of the zone it was asked in, with the last of them', () => {
  const auckland = period('2026-04-30T12:00:00Z', '2026-05-31T12:00:00Z', 'Pacific/Auckland');
  assert.match(auckland, /^\D*1\D.*31\D.*2026$/);
  assert.doesNotMatch(auckland, /:/);
  const moments = period('2026-05-01T00:00:00Z', '2026-05-19T08:30:00Z', 'UTC');
  assert.match(moments, /:00.*–.*8:30/);
});

it('a time is shown by the clock of the zone that is named, and a day without an hour is the same in all', () => {
  const evening = '2025-06-03T20:30:00.000Z';
  assert.match(date(evening, 'Asia/Kolkata'), /4/);
  assert.match(date(evening, 'America/Los_Angeles'), /3/);
  assert.match(time(evening, 'Asia/Kolkata'), /4.*2:00/);
  assert.match(time(evening, 'America/Los_Angeles'), /3.*(1|13):30/);
  assert.match(withDates(`Watching since ${evening}.`, 'Asia/Kolkata'), /4.*2:00/);
  assert.equal(date('2025-06-03', 'Pacific/Kiritimati'), date('2025-06-03', 'Pacific/Pago_Pago'));
  const wall = 'until 2025-06-03 20:30';
  assert.equal(withDates(wall, 'Asia/Kolkata'), withDates(wall, 'America/Los_Angeles'));
});

it('a date keeps its own order in an English sentence where its letters go from right to left', () => {
  const today = (locale: string): string =>
    new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }).format(new Date('2026-11-20T12:00:00Z'));
  for (const locale of ['he', 'ar-EG', 'fa'])
    assert.equal(isolated(today(locale)), `\u2068${today(locale)}\u2069`);
  for (const locale of ['en', 'de', 'pl', 'ja', 'ru']) assert.equal(isolated(today(locale)), today(locale));
});
