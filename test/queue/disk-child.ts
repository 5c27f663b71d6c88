import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { openTarget, type Target } from './target.ts';

/** Another process that adds jobs to the queue `work` and does them, one after the other, and says each. */
export interface Busy {
  pid: number;
  /** Its words so far: `done` or `failed` for a job, and the lines of its log. */
  said: string[];
  kill(): Promise<void>;
}

export function startBusy(target: Target): Busy {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(target)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const said: string[] = [];
  createInterface(child.stdout).on('line', (line) => void said.push(line));
  return {
    pid: child.pid ?? 0,
    said,
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

async function beBusy(target: Target): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line.trimEnd()}\n`);
  const backend = await openTarget(target, { push: say });
  backend.worker('work', async () => say('done')).on('failed', () => say('failed'));
  process.stdin.on('end', () => process.exit()).resume();
  for (;;) {
    await backend
      .queue('work')
      .add('n', {}, { removeOnComplete: true })
      .catch(() => undefined);
    await delay(20);
  }
}

if (process.argv[1] === import.meta.filename) await beBusy(JSON.parse(process.argv[2] ?? '') as Target);
