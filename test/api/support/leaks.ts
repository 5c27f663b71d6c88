import assert from 'node:assert/strict';
import { inspect } from 'node:util';

/** Every way a token could be spelt where it does not belong. */
function spellings(token: string): string[] {
  const bytes = Buffer.from(token);
  const shifted = [0, 1, 2].map((n) =>
    Buffer.concat([Buffer.alloc(n, 32), bytes])
      .toString('base64')
      .slice(4, -4),
  );
  return [
    token,
    encodeURIComponent(token),
    new URLSearchParams({ v: token }).toString().slice(2),
    JSON.stringify(token).slice(1, -1),
    bytes.toString('hex'),
    ...shifted,
    ...shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

/** Everything that could be printed of a value, by whatever way of printing. */
export function printed(value: unknown): string {
  const texts = [
    inspect(value, {
      depth: Number.POSITIVE_INFINITY,
      showHidden: true,
      getters: true,
      maxStringLength: null,
    }),
    String(JSON.stringify(value)),
    String(value),
  ];
  for (let error = value; error instanceof Error; error = error.cause) {
    const own = Object.getOwnPropertyNames(error).map((key) => inspect(Reflect.get(error as object, key)));
    texts.push(error.message, error.stack ?? '', ...own);
  }
  return texts.join('\n');
}

export function assertNoLeak(token: string, things: Record<string, unknown>): void {
  for (const [name, thing] of Object.entries(things)) {
    const text = printed(thing);
    for (const spelling of spellings(token)) {
      assert.ok(!text.includes(spelling), `${name} shows the token as ${spelling}:\n${text.slice(0, 3_000)}`);
    }
  }
}
