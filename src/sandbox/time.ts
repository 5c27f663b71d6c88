/** `2024-05-06T07:08:09.123456Z`: the API's spelling, six digits of a second and a Z. */
export function stamp(ms: number, micros = 0): string {
  const iso = new Date(ms).toISOString();
  return `${iso.slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
}

/** Where a seeded world ends unless told otherwise: fixed, so that a seed gives the same bytes on every day. */
export const REFERENCE_TIME = Date.parse('2026-01-01T00:00:00.000Z');
