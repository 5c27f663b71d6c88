import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CHECKOUT } from './support/cli.ts';
import { CANARY, openSite, type Site } from './support/mirror-site.ts';

const readme = readFileSync(join(CHECKOUT, 'README.md'), 'utf8');
const ADDRESS = 'http://127.0.0.1:9090';
const OURS = 'npx feedback-mirror ';

interface Step {
  line: string;
  /** What it prints; null where the README does not say. */
  answer: string | null;
}

/** The tour in its order: every line of an `sh` block, and every `console` block with a command and what it answers. */
const steps: Step[] = [...readme.matchAll(/^```(sh|console)\n([^`]+)^```$/gm)].flatMap(
  ([, kind, block = '']): Step[] => {
    if (kind === 'sh')
      return block
        .trimEnd()
        .split('\n')
        .map((line) => ({ line, answer: null }));
    const end = block.indexOf('\n');
    return [{ line: block.slice('$ '.length, end), answer: block.slice(end + 1) }];
  },
);

describe('the tour of the README', () => {
  it('runs as printed against the sandbox as it is when --live starts it', async (t) => {
    assert.ok(steps.length >= 12);
    // The world of --live at its first moment: its people act later, so that what they do does not change the answers here.
    const site = await openSite(t, { posts: 200, pageSize: 100, referenceTime: Date.now() });
    cpSync(join(CHECKOUT, 'examples'), join(site.folder, 'examples'), { recursive: true });
    for (const step of steps) await take(site, step);
  });
});

async function take(site: Site, { line, answer }: Step): Promise<void> {
  if (line.startsWith('export ')) return assert.match(line, new RegExp(`FEEDBACK_BASE_URL=${ADDRESS} `));
  if (line.startsWith('curl ')) return await ask(site, line);
  assert.ok(line.startsWith(OURS), line);
  const { code, stdout, stderr } = await site.run(words(line.slice(OURS.length)), { DATA_DIR: 'data/tour' });
  assert.equal(code, 0, `${line}: ${stderr}`);
  if (answer !== null)
    assert.equal(undated(stdout.replaceAll(site.sandbox.url, ADDRESS)), undated(answer), line);
}

/** The world of --live begins two years before today: its words and votes are the same on every day, its dates are not. */
function undated(text: string): string {
  return text.replace(/\d{4}-\d{2}-\d{2}( \d{2}:\d{2})?/g, (date) => 'D'.repeat(date.length));
}

/** Not every machine has curl; what matters is that the address answers with a page. */
async function ask({ sandbox }: Site, line: string): Promise<void> {
  const url = words(line).at(-1) ?? '';
  assert.ok(url.startsWith(ADDRESS), line);
  const answer = await fetch(url.replace(ADDRESS, sandbox.url), {
    headers: { authorization: `Bearer ${CANARY}` },
  });
  assert.equal(answer.status, 200, line);
  assert.ok(((await answer.json()) as { results: unknown[] }).results.length > 0, line);
}

/** A line as a shell takes it apart, as far as ours use quotes. */
function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );
}
