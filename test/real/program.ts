import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { launch, type Program as Running } from '../chaos/program.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { type Service, TOKEN } from './stack.ts';

/** The program as a user runs it against a service, with a data folder of its own. */
export interface Program {
  /** The SQLite file. */
  readonly mirror: string;
  readonly folder: string;
  /** One command, from start to end. */
  run(...args: string[]): Promise<Ended>;
  /** `feedback-mirror start`. */
  start(): Running;
  remove(): Promise<void>;
}

export interface Ended {
  /** Null when a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

const folders = new Set<string>();
// Also after Ctrl-C. The processes are ended by `launch`.
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function openProgram(service: Service, settings: Record<string, string> = {}): Program {
  const folder = temporaryFolder('real');
  folders.add(folder);
  const env = { FEEDBACK_BASE_URL: service.url, FEEDBACK_API_TOKEN: TOKEN, HTTP_PORT: '0', ...settings };
  let launches = 0;
  const begin = (args: readonly string[]): Running =>
    launch(args, { cwd: folder, env, log: join(folder, `run-${++launches}`) });
  return {
    folder,
    mirror: join(folder, 'data/mirror.db'),
    async run(...args) {
      const running = begin(args);
      const code = await running.ended;
      return { code, stdout: running.stdout(), stderr: running.stderr() };
    },
    start: () => begin(['start']),
    remove: () => removeFolder(folder),
  };
}
