import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import type { Check } from '../../src/doctor/check.ts';
import { type DoctorInput, examine } from '../../src/doctor/examine.ts';
import { examineAccess, examineFolder } from '../../src/doctor/machine.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { folderFor } from '../support/folder.ts';
import { placeNewMirror } from '../support/mirror.ts';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const PAGE = { serverTime: NOW, receivedAt: NOW, rows: [{}, {}], rejects: [] };

/** A site in order, except for what is said; its service is not asked. */
function siteFor(t: TestContext, changes: Partial<DoctorInput> & { page?: object } = {}) {
  const dataDir = folderFor(t, 'doctor');
  const { page, ...rest } = changes;
  const firstPage = async () => ({ ...PAGE, ...page }) as never;
  const input: DoctorInput = {
    dataDir,
    mirror: { path: join(dataDir, 'mirror.db'), upstream: 'https://upstream.test' },
    upstream: { host: 'upstream.test', firstPage },
    queue: { kind: 'embedded', countJobs: async () => 3 },
    checkRules: async () => {},
    copy: null,
    service: { host: '127.0.0.1', port: 0, token: null, isUpstreamToken: false },
    ...rest,
  };
  return { input, dataDir };
}

async function found(input: DoctorInput): Promise<Map<string, Check>> {
  const checks = new Map<string, Check>();
  for await (const check of examine(input, new AbortController().signal)) checks.set(check.name, check);
  return checks;
}

describe('the doctor', () => {
  it('warns when little disk space is left, and fails when hardly any is left', (t) => {
    const folder = folderFor(t, 'doctor');
    const states = [49_999_999, 50_000_000, 999_999_999, 1_000_000_000].map((free) => {
      const { state, code } = examineFolder(folder, () => free);
      return [state, code];
    });
    assert.deepEqual(states, [
      ['fail', 'storage'],
      ['warn', null],
      ['warn', null],
      ['ok', null],
    ]);
    chmodSync(folder, 0o750);
    const { state, detail, advice } = examineFolder(folder, () => 10 ** 12);
    assert.deepEqual([state, advice], ['warn', `Run: chmod go= ${folder}`]);
    assert.match(detail, /open to other users of this machine \(mode 0750\)/);
  });

  it('takes a token for weak that is short or always the same', () => {
    const judged = (text: string | null, isUpstreamToken = false): string => {
      const token = text === null ? null : new Secret(text);
      return examineAccess({ host: '0.0.0.0', port: 1, token, isUpstreamToken }).state;
    };
    assert.deepEqual(
      ['abcdefgh12345678', 'abcdefgh1234567', 'abcdefg'.repeat(3), 'abcdefgh'.repeat(2)].map((text) =>
        judged(text),
      ),
      ['ok', 'warn', 'warn', 'ok'],
    );
    assert.deepEqual([judged(null), judged('abcdefgh12345678', true)], ['ok', 'warn']);
  });

  it('takes a clock for wrong that is more than ten seconds ahead or behind', async (t) => {
    const told = async (page: object) => (await found(siteFor(t, { page }).input)).get('upstream');
    assert.match((await told({}))?.detail ?? '', /^upstream\.test took the token and listed 2 posts in /);
    for (const [serverTime, state, detail] of [
      [NOW - 10_000, 'ok', /./],
      [NOW - 10_001, 'warn', /this machine's clock is 10 s ahead of its clock/],
      [NOW + 10_001, 'warn', /this machine's clock is 10 s behind its clock/],
      [null, 'ok', /./],
    ] as const) {
      const check = await told({ serverTime });
      assert.equal(check?.state, state);
      assert.match(check?.detail ?? '', detail);
    }
    const unread = await told({ rejects: [{}] });
    assert.deepEqual([unread?.state, /1 more could not be read/.test(unread?.detail ?? '')], ['warn', true]);
    assert.equal((await found(siteFor(t, { upstream: null }).input)).get('upstream')?.state, 'ok');
  });

  it('says what a lost disk would cost', async (t) => {
    const told = async (copy: { behind: number; isOther: boolean } | null) => {
      const look = async () => copy && { readAt: 'then', ...copy };
      const { state, detail } = (await found(siteFor(t, { copy: { look } }).input)).get('copy') ?? {};
      return [state, detail];
    };
    assert.deepEqual(await told(null), ['warn', 'there is no copy yet: a lost disk would cost everything']);
    assert.deepEqual(await told({ behind: 0, isOther: false }), [
      'ok',
      'it has every change; its last ones are from then',
    ]);
    assert.deepEqual(await told({ behind: 2, isOther: false }), [
      'warn',
      'it is 2 changes behind: a lost disk would cost what happened since then',
    ]);
    assert.equal((await told({ behind: 0, isOther: true }))[0], 'fail');
    assert.equal((await found(siteFor(t).input)).has('copy'), false);
  });

  it('counts the jobs of the queue, and takes a damaged one for no loss', async (t) => {
    const told = async (countJobs: () => Promise<number | null>) => {
      const queue = { kind: 'embedded', countJobs } as const;
      const { state, detail } = (await found(siteFor(t, { queue }).input)).get('queue') ?? {};
      return [state, detail];
    };
    assert.deepEqual(await told(async () => 3), ['ok', 'embedded, 3 jobs in queue.db']);
    assert.deepEqual(await told(async () => null), [
      'ok',
      'embedded; queue.db is made when the service starts',
    ]);
    const broken = async () => Promise.reject(new Error('malformed'));
    assert.deepEqual(await told(broken), ['warn', 'queue.db cannot be read: malformed']);
    const tryIt = async () =>
      Promise.reject(new AppError('unreachable', 'it is away', { hint: 'Start it.' }));
    const away = (await found(siteFor(t, { queue: { kind: 'server', tryIt } }).input)).get('queue');
    assert.deepEqual([away?.state, away?.advice, away?.code], ['fail', 'Start it.', 'unreachable']);
  });

  it('tells of an outbox that waits for a person, and of a mirror that is not there', async (t) => {
    const { input } = siteFor(t);
    assert.equal((await found(input)).get('mirror')?.state, 'warn');
    placeNewMirror(input.mirror.path);
    const outbox = openOutboxStore({ ...input.mirror, holder: 'a test' });
    t.after(() => outbox.close());
    const fresh = await found(input);
    assert.deepEqual(
      ['mirror', 'outbox', 'search index', 'reports', 'write-ahead log'].map(
        (name) => fresh.get(name)?.state,
      ),
      ['ok', 'ok', 'ok', 'ok', 'ok'],
    );
    outbox.setPaused('the upstream refused the token');
    const { state, detail, advice } = (await found(input)).get('trouble') ?? {};
    assert.deepEqual(
      [state, detail, advice],
      [
        'warn',
        'the feedback service refused the token (sending is paused)',
        'Put a new one in .env or sources.yaml, no restart needed.',
      ],
    );
    chmodSync(input.mirror.path, 0o644);
    assert.match((await found(input)).get('mirror')?.detail ?? '', /open to other users/);
  });

  it('stops where it is told to', async (t) => {
    const examined = examine(siteFor(t).input, AbortSignal.abort(new AppError('interrupted', 'stopped')));
    const seen: string[] = [];
    await assert.rejects(
      async () => {
        for await (const { name } of examined) seen.push(name);
      },
      { code: 'interrupted' },
    );
    assert.deepEqual(seen, ['data folder', 'mirror']);
  });
});
