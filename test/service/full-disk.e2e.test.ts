import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limitFiles } from '../support/disk-limit.ts';
import { openSite } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { isReady, logOf, startService, troublesOf } from './runs.ts';

describe('a service whose disk is full', skipUnless('prlimit'), () => {
  it('gets well when there is space again, and ends in order when it is told to before that', async (t) => {
    const site = await openSite(t);
    const service = await startService(site, { SYNC_HEAD_EVERY: '1s' });
    await until('readiness', () => isReady(service));

    await limitFiles(service.child.pid, 16_384);
    await until('it says that it is not well', async () => !(await isReady(service)));
    await until('it says why', async () =>
      /^nothing can be written to the disk since \d\d:\d\d/.test((await troublesOf(service))[0] ?? ''),
    );
    await limitFiles(service.child.pid, 'unlimited');
    await until('it is well again', () => isReady(service));
    await until('it has nothing to say', async () => (await troublesOf(service)).length === 0);

    await limitFiles(service.child.pid, 16_384);
    const lines = logOf(service).length;
    await until('it complains', () => logOf(service).length > lines);
    await service.stop();
    const next = await startService(site);
    await until('the next one is ready', () => isReady(next));
    await next.stop();
    const { code, stdout, stderr } = await site.run(['doctor']);
    assert.equal(code, 0, stdout + stderr);
  });
});
