import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CANARY, openSite, type Site } from '../support/mirror-site.ts';
import { until } from '../support/until.ts';
import { isReady, type StartedService, startService, troublesOf } from './runs.ts';

/** The same sentence at every place, but for where its time stands. */
async function saysEverywhere(site: Site, service: StartedService, said: RegExp): Promise<void> {
  await until(`/readyz says ${said}`, async () => said.test((await troublesOf(service)).join('\n')));
  const status = await site.run(['status']);
  assert.match(status.stdout, said);
  assert.doesNotMatch(status.stdout, /may be called|none runs/);
  const events = await fetch(`${service.url}/data/events`);
  const { value } = (await events.body?.getReader().read()) ?? {};
  const [first] = JSON.parse(
    Buffer.from(value ?? [])
      .toString()
      .replace(/^data: /, ''),
  ).troubles;
  assert.match(`${first.what} since 10:02: ${first.advice}`, new RegExp(said.source.split('.*')[0] ?? ''));
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  assert.match(metrics, new RegExp(`trouble_since_seconds\\{symptom="${first.symptom}"\\} 1`));
}

describe('a service in trouble with its upstream', () => {
  it('says that the token is refused wherever one looks, and takes the new one from .env', async (t) => {
    const site = await openSite(t);
    const settings = (token: string): Promise<void> =>
      writeFile(join(site.folder, '.env'), `FEEDBACK_API_TOKEN=${token}\n`);
    await settings('an-old-token');
    delete site.env.FEEDBACK_API_TOKEN;
    const service = await startService(site, { SYNC_HEAD_EVERY: '10m' });
    await saysEverywhere(
      site,
      service,
      /the feedback service refused the token since .*: put a new one in \.env or sources\.yaml, no restart needed/,
    );
    const checksNow = async () =>
      (
        (await (await fetch(`${service.url}/readyz`)).json()) as {
          checks: { name: string; ok: boolean; detail: string }[];
        }
      ).checks;
    const checks = await checksNow();
    assert.doesNotMatch(checks.map(({ detail }) => detail).join('\n'), /may be called|none runs/);
    assert.equal(checks.find(({ name }) => name === 'upstream')?.ok, false);
    const doctor = await site.run(['doctor']);
    assert.match(doctor.stdout, /the feedback service refused the token since/);
    const says = async (said: RegExp) => said.test((await troublesOf(service)).join('\n'));
    await settings('a wrong one');
    await until('it says that the new token cannot be used', () =>
      says(/\(the one of .* cannot be used: FEEDBACK_API_TOKEN must be .* without spaces/),
    );
    await settings('another-wrong-one');
    await until('it says that the new token was refused too', () =>
      says(/\(the one of .* was refused too\)/),
    );
    await settings(CANARY);
    await until('it is well, without a request', async () => {
      const said = (await checksNow()).map(({ detail }) => detail).join('\n');
      assert.doesNotMatch(said, /none runs/);
      return await isReady(service);
    });
    assert.deepEqual(await troublesOf(service), []);
    await service.stop();
  });

  it('tells a service that is gone from one that asks for no calls', async (t) => {
    const site = await openSite(t);
    const service = await startService(site, { SYNC_HEAD_EVERY: '1s' });
    await until('it is well', () => isReady(service));
    site.sandbox.faults.set('throttle retry-after=600');
    await saysEverywhere(
      site,
      service,
      /the feedback service asks for no calls since .*, until .*: nothing is lost/,
    );
    await service.stop();

    const other = await openSite(t);
    const away = await startService(other, { SYNC_HEAD_EVERY: '1s' });
    await until('it is well', () => isReady(away));
    await other.sandbox.close();
    await saysEverywhere(
      other,
      away,
      /the feedback service is down or out of reach since .* \(.*connection.*\): check the feedback service/,
    );
    await until('the breaker is open, which changes nothing', async () => {
      const { checks } = (await (await fetch(`${away.url}/readyz`)).json()) as {
        checks: { detail: string }[];
      };
      assert.doesNotMatch(JSON.stringify(checks), /asks? for no calls/);
      return (await other.run(['status'])).stdout.includes('#4');
    });
    await away.stop();
  });
});
