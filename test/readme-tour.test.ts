import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CHECKOUT } from './support/cli.ts';
import { openSite } from './support/mirror-site.ts';

const readme = readFileSync(join(CHECKOUT, 'README.md'), 'utf8');

interface Example {
  command: string;
  answer: string;
}

/** Every `console` block: a prompt with a command of ours, and what it answers. */
const examples: Example[] = [
  ...readme.matchAll(/^```console\n\$ npx feedback-mirror (.+)\n([^`]+)^```$/gm),
].map(([, command = '', answer = '']) => ({ command, answer }));

describe('the questions and answers of the README', () => {
  it('are answered as they stand there, by the sandbox as it comes', async (t) => {
    assert.ok(examples.length >= 4);
    // The sandbox of the tour: nothing but its own defaults.
    const site = await openSite(t, { posts: 200, pageSize: 100 });
    const swept = await site.run(['sync']);
    assert.equal(swept.code, 0, swept.stderr);
    for (const { command, answer } of examples) {
      const { code, stdout, stderr } = await site.run(words(command));
      assert.equal(code, 0, `${command}: ${stderr}`);
      assert.equal(stdout.replaceAll(site.sandbox.url, 'http://127.0.0.1:9090'), answer, command);
    }
  });
});

/** A line as a shell takes it apart, as far as ours use quotes. */
function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );
}
