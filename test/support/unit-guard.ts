import childProcess, { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { Server } from 'node:net';

/**
 * Holds the rule by which the tiers are told apart: a file that is not named `*.e2e.test.ts` starts no server and no process.
 * Loaded before every test file, also where only one is run.
 */
function refuse(): never {
  throw new Error('a unit test starts no server and no process: name this file *.e2e.test.ts');
}

const [, file = ''] = process.argv;
const isRunner = process.execArgv.includes('--test');
if (!isRunner && /(?<!\.e2e)\.test\.ts$|\/units\.ts$/.test(file)) {
  Server.prototype.listen = refuse;
  Reflect.set(ChildProcess.prototype, 'spawn', refuse);
  for (const name of ['spawnSync', 'execSync', 'execFileSync'] as const) childProcess[name] = refuse;
  syncBuiltinESMExports();
}
