import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { secretsOf } from '../../config/load.ts';
import { readWebhooks, rule, webhookSecret } from '../../config/webhooks.ts';
import { Secret } from '../../src/base/secret.ts';
import { folderFor } from '../support/folder.ts';
import { folder, load } from './inputs.ts';

const SECRET = Buffer.alloc(32, 7).toString('base64');

function fromFile(t: TestContext, text: string): ReturnType<typeof readWebhooks> {
  const folder = folderFor(t, 'webhooks');
  writeFileSync(join(folder, 'hooks.json'), text);
  writeFileSync(join(folder, 'secret'), `whsec_${SECRET}\n`);
  return readWebhooks({ url: null, secret: null, file: 'hooks.json' }, folder);
}

function given(t: TestContext, ...hooks: object[]): ReturnType<typeof readWebhooks> {
  return fromFile(t, JSON.stringify(hooks));
}

const HOOK = { url: 'https://example.com/hook', secret: SECRET };

describe('the endpoints of WEBHOOKS_FILE', () => {
  it('are read with what each is told, and a secret from a file of its own', (t) => {
    const [all, few] = given(
      t,
      { url: HOOK.url, secret_file: 'secret' },
      {
        ...{ name: 'chat', url: 'https://chat.example.com/x', format: 'slack', types: ['post.*'] },
        ...{ boards: ['Ideas'], rule: 'votes >= 50', personal: true },
      },
    );
    assert.equal(all?.key?.reveal(), SECRET);
    assert.deepEqual(
      [all?.host, all?.format, all?.types, all?.personal],
      ['example.com', 'standard', null, false],
    );
    const { id, key, format, types, boards, personal } = few ?? {};
    assert.deepEqual(
      { id, key, format, types, boards, personal },
      { id: 'chat', key: null, format: 'slack', types: ['post.*'], boards: ['Ideas'], personal: true },
    );
    assert.deepEqual(few?.rule, { field: 'votes', operator: '>=', value: '50' });
  });

  it('are refused with the number of the entry and the reason, without address and secret', (t) => {
    const refusals: [object, RegExp][] = [
      [{ ...HOOK, url: 'ftp://example.com/private' }, /"url" must be a URL/],
      [{ ...HOOK, url: 'https://me:pass@example.com/private' }, /"url" must not hold a user name/],
      [{ url: HOOK.url }, /"secret" or a "secret_file" is missing/],
      [{ ...HOOK, secret: 'c2hvcnQ=' }, /"secret" must be 24 to 64 random bytes/],
      [{ url: HOOK.url, secret_file: 'nowhere' }, /"secret_file" .*ENOENT/],
      [{ ...HOOK, format: 'irc' }, /"format" must be one of standard, slack, discord, teams/],
      [{ ...HOOK, rule: 'votes~50' }, /"rule" must be a rule such as votes>=50/],
      [{ ...HOOK, types: [] }, /"types" must be a list of texts/],
      [{ ...HOOK, name: 'a b' }, /"name" must be letters/],
      [{ ...HOOK, url: 'https://:private@example.com/hook' }, /must not hold a user name or password/],
      [{ ...HOOK, type: ['post.*'] }, /there is no field "type"; there are name, url/],
    ];
    for (const [hook, says] of refusals)
      assert.throws(
        () => given(t, HOOK, hook),
        ({ message }: Error) =>
          message.startsWith('webhook 2 of WEBHOOKS_FILE: ') &&
          says.test(message) &&
          !/private|c2hvcnQ/.test(message),
        String(says),
      );
  });

  it('are refused where two have one name, or the file holds no list', (t) => {
    assert.throws(() => given(t, HOOK, HOOK), /two webhooks are called [0-9a-f]{12}: give each a "name"/);
    assert.throws(() => fromFile(t, '{}'), /must hold a list of webhooks/);
    assert.throws(() => fromFile(t, '[{'), /is not JSON/);
    assert.throws(
      () => readWebhooks({ url: null, secret: null, file: 'no.json' }, '/'),
      /cannot be read \(ENOENT\)/,
    );
  });
});

describe('what must not be printed of them', () => {
  it('is every address and every key, also those of the file', () => {
    const hooks = JSON.stringify([{ ...HOOK, url: 'https://chat.example.com/services/T0/canary' }]);
    const settings = load({ cwd: folder({ 'hooks.json': hooks }), env: { WEBHOOKS_FILE: 'hooks.json' } });
    const secrets = secretsOf(settings).map((secret) => secret.reveal());
    assert.deepEqual(secrets, ['https://chat.example.com/services/T0/canary', SECRET]);
  });
});

describe('the key of a signature', () => {
  it('has 24 to 64 bytes in base64', () => {
    const made = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64');
    for (const bytes of [24, 64]) assert.equal(webhookSecret(made(bytes)).reveal(), made(bytes));
    for (const text of [made(23), made(65), `${made(24)}!`])
      assert.throws(() => webhookSecret(text), /24 to 64 random bytes/, text);
  });
});

describe('a webhook of the environment', () => {
  it('needs its secret', () => {
    const url = new Secret(HOOK.url);
    assert.throws(() => readWebhooks({ url, secret: null, file: null }, '/'), /WEBHOOK_SECRET is required/);
    assert.equal(readWebhooks({ url, secret: webhookSecret(`whsec_${SECRET}`), file: null }, '/').length, 1);
  });
});

describe('a rule', () => {
  it('compares counts by size, and names by equality', () => {
    assert.deepEqual(rule('status=In Progress'), { field: 'status', operator: '=', value: 'In Progress' });
    for (const wrong of ['status>Open', 'votes=many', 'colour=red', 'votes>='])
      assert.throws(() => rule(wrong), /must be a rule such as/);
  });
});
