import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { CHECKOUT } from '../support/cli.ts';

const RESULTS = join(CHECKOUT, 'bench/RESULTS.md');

test('a set is run from the command line, prints its table, and a scaled run keeps no results', async () => {
  const before = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : null;
  const args = ['bench/bench.ts', '--scale', '0.005', '--repeat', '1', 'latency'];
  const child = spawn(process.execPath, args, { cwd: CHECKOUT, stdio: ['ignore', 'pipe', 'ignore'] });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  // Start-up alone is longer than one page takes, so the figures are short of their bounds.
  assert.equal(code, 1);
  assert.match(stdout, /SET +ROW +OURS +SPREAD +BESIDE IT/);
  const row = /latency +far away, one page ahead +[\d.]+ s +latency × pages +([\d.]+) s .*at most 1\.05 x/;
  // One page: what a timer of 100 ms took on this machine just now.
  const held = /far away, one page ahead: .* held answers back for ([\d.]+) ms each/;
  const [figure = 0, latency = 0] = [row, held].map((pattern) => Number(pattern.exec(stdout)?.[1]));
  assert.ok(Math.abs(figure * 1000 - latency) < latency / 100, stdout);
  assert.match(stdout, /1 repetition, sizes times 0\.005\n.*cores?, .* GiB/);
  assert.match(stdout, /node \d+\.\d+\.\d+, sqlite \d/);
  assert.equal(existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : null, before);
});
