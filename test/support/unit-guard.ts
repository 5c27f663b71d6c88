import childProcess, { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { Server } from 'node:net';

/**
 * Holds the rule by which the tiers are told apart: only files named
 * `*.e2e.test.ts` and `*.long.test.ts` start servers and processes.
 * Loaded before every test file, also where only one is run.
 */
function refuse(): never {
  throw new Error(
    'a unit test starts no server and no process: name this file *.e2e.test.ts or *.long.test.ts',
  );
}

const [, file = ''] = process.argv;
const isRunner = process.execArgv.includes('--test');
if (!isRunner && /(?<!\.(e2e|long))\.test\.ts$|\/units-\d\.mjs$/.test(file)) {
  Server.prototype.listen = refuse;
  Reflect.set(ChildProcess.prototype, 'spawn', refuse);
  for (const name of ['spawnSync', 'execSync', 'execFileSync'] as const) childProcess[name] = refuse;
  syncBuiltinESMExports();
}
