import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openWebhooks } from '../../src/app/webhooks.ts';
import { folder, load } from '../config/inputs.ts';

describe('webhooks.json in the data folder', () => {
  it('is named, with a hint, where it cannot be read, is no list or has a webhook that cannot be', () => {
    const settings = load({ env: { DATA_DIR: folder() } });
    const file = join(settings.dataDir, 'webhooks.json');
    for (const [text, why] of [
      ['[{"name":', /webhooks\.json is not JSON/],
      ['null', /webhooks\.json must hold a list of webhooks/],
      ['[1]', /webhook 1 of .*webhooks\.json: "url" must be a URL/],
    ] as const) {
      writeFileSync(file, text);
      assert.throws(
        () => openWebhooks(settings, 'mirror'),
        ({ code, message, hint }: Error & { code: string; hint: string }) =>
          code === 'usage' && why.test(message) && /add its webhooks on the page again/.test(hint),
        text,
      );
    }
  });
});
