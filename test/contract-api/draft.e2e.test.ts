import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { openOnSandbox } from '../dashboard/site.ts';
import { AS_USER, call } from '../sandbox/client.ts';
import { runCli } from '../support/cli.ts';
import { openReplica } from './servers.ts';

const GOOD = {
  board: 'bugs',
  title: 'A title',
  content: 'Some text',
  email: 'kim@example.com',
  full_name: 'Kim',
};
type Draft = typeof GOOD;

/** One rule for every way into the outbox: the field, what it holds, and what is wrong with it. */
const RULES: [keyof Draft, string, string | null][] = [
  ['email', 'kim@intranet', null],
  ['email', 'a,b@example.com', 'is not one e-mail address'],
  ['title', ' ', 'is blank'],
  ['title', 'a\u0007b', 'has a control character (U+0007)'],
  ['title', 'a\u0085b', 'has a control character (U+0085)'],
  ['title', 'a\nb', 'has a line break'],
  ['content', 'a\n\tb', null],
  ['content', 'a\u001bb', 'has a control character (U+001B)'],
  ['full_name', 'Kim\tK', 'has a tab'],
];

const DRAFTS = RULES.map(([field, text]) => ({ ...GOOD, [field]: text }));

/** What each way in says of each draft of the table: null where it is accepted. */
const DOORS: Record<string, (t: TestContext) => Promise<(string | null)[]>> = {
  'the command line': async () => {
    const said: (string | null)[] = [];
    for (const { board, title, content, email, full_name } of DRAFTS) {
      const texts = ['--board', board, '--title', title, '--content', content, '--email', email];
      const { code, stderr } = await runCli(['create', ...texts, '--full-name', full_name]);
      said.push(code === 0 ? null : stderr);
    }
    return said;
  },

  'a CSV file': async () => {
    const cells = (draft: Draft): string =>
      Object.values(draft)
        .map((text) => `"${text}"`)
        .join();
    const input = [Object.keys(GOOD).join(), ...DRAFTS.map(cells)].join('\n');
    const { stdout } = await runCli(['import', '-', '--json'], { input });
    const { refusals } = JSON.parse(stdout) as { refusals: { line: number; reason: string }[] };
    // A line break in a cell moves the lines after it.
    const lines = DRAFTS.map(
      (_, i) => input.split('\n').indexOf(cells(DRAFTS[i] ?? GOOD).split('\n')[0] ?? '') + 1,
    );
    return lines.map((line) => refusals.find((refusal) => refusal.line === line)?.reason ?? null);
  },

  'the form of the dashboard': async (t) => {
    const site = await openOnSandbox(t);
    const said: (string | null)[] = [];
    for (const [n, draft] of DRAFTS.entries()) {
      const { status, body } = await site.send('/data/outbox', { ...draft, key: `form ${n}` });
      said.push(status < 300 ? null : body);
    }
    return said;
  },

  'the API of the mirror': async (t) => {
    const api = await openReplica(t, { posts: 1 }, { isSending: false, waitMs: 1 });
    const said: (string | null)[] = [];
    for (const draft of DRAFTS) {
      const { status, body } = await call(api, AS_USER, { body: draft });
      said.push(status === 202 ? null : body.toString());
    }
    return said;
  },
};

describe('one rule for a new post', () => {
  for (const [door, ask] of Object.entries(DOORS)) {
    it(`holds for ${door}`, async (t) => {
      const said = await ask(t);
      for (const [n, [field, text, problem]] of RULES.entries()) {
        const what = `${field} ${JSON.stringify(text)}: ${said[n]}`;
        if (problem === null) assert.equal(said[n], null, what);
        else assert.ok(said[n]?.includes(problem) && said[n]?.includes(field), what);
      }
    });
  }
});
