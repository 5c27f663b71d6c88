import { join } from 'node:path';
import { readRequest } from './frame/request.ts';
import { runBench } from './frame/run.ts';
import { SETS } from './sets/index.ts';

const request = readRequest(process.argv.slice(2), SETS);
if ('text' in request) {
  (request.ok ? process.stdout : process.stderr).write(`${request.text}\n`);
  process.exitCode = request.ok ? 0 : 2;
} else {
  const reached = await runBench(request, {
    print: (text) => void process.stdout.write(`${text}\n`),
    say: (line) => void process.stderr.write(`${line}\n`),
    results: join(import.meta.dirname, 'RESULTS.md'),
    order: SETS.map(({ name }) => name),
  });
  process.exitCode = reached ? 0 : 1;
}
