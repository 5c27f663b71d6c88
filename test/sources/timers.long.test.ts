import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { until } from '../support/until.ts';
import { place, start, tokenOf } from './place.ts';

/** On SIGUSR2 the service prints how many timers of Node it has. */
const COUNTING = `--import=data:text/javascript,process.on('SIGUSR2',()=>console.error('timers='+process.getActiveResourcesInfo().filter((one)=>one==='Timeout').length))`;

it('six idle sources have no more timers than one', async (t) => {
  const { folder, sandboxes } = await place(t, { acme: { posts: 3 } });
  const write = (count: number): void => {
    const names = Array.from({ length: count }, (_, n) => `source-${n}`);
    const lines = names.map(
      (name) =>
        `  ${name}: { base_url: '${sandboxes.acme?.url}', token: ${tokenOf('acme')}, head_every: off }\n`,
    );
    writeFileSync(join(folder, 'sources.yaml'), `sources:\n${lines.join('')}`);
  };
  write(1);
  const { json, said, signal } = await start(t, { folder }, { NODE_OPTIONS: COUNTING });
  const areReady = (count: number) => async (): Promise<boolean> => {
    const { body } = await json('/readyz');
    return Object.values(Object(body.sources)).filter(Boolean).length === count;
  };
  const timers = async (): Promise<number> => {
    const before = said().length;
    signal('SIGUSR2');
    const counted = (): string | undefined => /timers=(\d+)/.exec(said().slice(before))?.[1];
    await until('it has counted', () => counted() !== undefined);
    return Number(counted());
  };
  await until('one is ready', areReady(1));
  const ofOne = await timers();
  write(6);
  await until('all are ready', areReady(6));
  // A request that is under way has timers too.
  await until('they are idle', async () => (await timers()) <= ofOne);
});
