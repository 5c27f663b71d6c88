import { join } from 'node:path';
import { readRequest } from './frame/request.ts';
import { runBench } from './frame/run.ts';
import { SETS } from './sets/index.ts';

const request = readRequest(process.argv.slice(2), SETS);
if ('text' in request) {
  (request.ok ? process.stdout : process.stderr).write(`${request.text}\n`);
  process.exitCode = request.ok ? 0 : 2;
} else {
  const outlet = {
    print: (text: string) => void process.stdout.write(`${text}\n`),
    say: (line: string) => void process.stderr.write(`${line}\n`),
    results: join(import.meta.dirname, 'RESULTS.md'),
    order: SETS.map(({ name }) => name),
  };
  const reached = await runBench(request, outlet, new Date());
  process.exitCode = reached ? 0 : 1;
}
