import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { reportText } from '../../src/cli/report-text.ts';
import { bar, sparkline } from '../../src/cli/table.ts';
import { reportCsv } from '../../src/reports/report.ts';
import { tell, UPSTREAM } from '../reports/story.ts';
import { type CliResult, runCli } from '../support/cli.ts';

/** January as the story tells it, whatever the day of the test. */
const JANUARY = ['--since', '2026-01-01', '--until', '2026-01-31'];

async function openDesk(
  t: TestContext,
): Promise<{ folder: string; run(...args: string[]): Promise<CliResult> }> {
  const { path } = await tell(t);
  const env = { FEEDBACK_BASE_URL: UPSTREAM, MIRROR_PATH: path };
  const folder = dirname(path);
  return { folder, run: (...args) => runCli(['report', ...args], { env, cwd: folder }) };
}

describe('feedback-mirror report', () => {
  it('lists the reports without a mirror, a line each', async () => {
    const { code, stdout, stderr } = await runCli(['report']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^REPORT +WHAT IT ANSWERS\noverview +How much is there, .*\?\ntop-posts +/);
    const list = JSON.parse((await runCli(['report', '--json'])).stdout) as {
      name: string;
      takes: string[];
    }[];
    assert.deepEqual(list[0]?.name, 'overview');
    assert.equal(list.length, stdout.trim().split('\n').length - 1);
  });

  it('prints a table without charts, with its notes below, if stdout is no terminal', async (t) => {
    const { run } = await openDesk(t);
    const { code, stdout, stderr } = await run('gaining-posts', '--include-closed', ...JANUARY);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      /^Which posts gained the most votes in a period\?\nfrom 2026-01-01 to 2026-01-31 00:00 UTC\n\n/,
    );
    assert.match(
      stdout,
      /\n#101 +10 +20 +0\.33 +0\.32 +Done +Features +2025-12-01 +Dark mode for the editor\n/,
    );
    assert.match(stdout, /\nThe mirror last looked at the posts on 2026-01-29 00:00 UTC/);
    assert.doesNotMatch(stdout, /[█▁]/);
  });

  it('prints CSV that a spreadsheet does not run, and notes beside it', async (t) => {
    const { run } = await openDesk(t);
    const { code, stdout, stderr } = await run('requests', '--format', 'csv');
    assert.equal(code, 0);
    assert.equal(
      stdout,
      'customer,email,posts,votes,delivered,top_post,top_title\r\n' +
        'Ann,ann@example.com,2,24,1,101,Dark mode for the editor\r\n' +
        "Bob,bob@example.com,2,14,0,102,'=Export to PDF\r\n",
    );
    assert.match(stderr, /^Votes carry no names in this API/);
  });

  it('prints the plain data as JSON', async (t) => {
    const { run } = await openDesk(t);
    for (const flags of [['--json'], ['--format', 'json']]) {
      const { stdout } = await run('delivered', '--board', 'features', ...flags);
      const { rows, board, since } = JSON.parse(stdout) as Record<string, unknown>;
      assert.deepEqual(rows, [
        { board: 'Features', posts: 4, delivered_posts: 1, votes: 35, delivered_votes: 20, share: 20 / 35 },
      ]);
      assert.deepEqual([board, since], ['Features', null]);
    }
  });

  it('refuses what makes no sense with exit code 2 and the way out', async (t) => {
    const { run } = await openDesk(t);
    const refusals: [args: string[], said: RegExp][] = [
      [['vots'], /no report "vots"\nDid you mean votes/],
      [['votes', '--board', 'bug'], /no board "bug"\nThe boards are bugs \(Bugs\)/],
      [['votes', '--since', 'soon'], /--since "soon" is no date\nGive a day/],
      [
        ['votes', '--limit', '3'],
        /--limit means nothing to the report votes\nIt takes --board, --since, --until, --segment\./,
      ],
      [['top-posts', '--limit', '0'], /--limit must be a whole number from 1 up, not "0"/],
      [['top-posts', '--format', 'xml'], /--format "xml" is not known; it can be table, csv, json/],
      [['top-posts', '--format', 'csv', '--json'], /contradict each other/],
      [['segments', '--by', 'plan'], /no customers were imported yet\nRun "feedback-mirror segments import/],
      [['votes', '--by', 'plan'], /--by means nothing to the report votes/],
      [['--board', 'bugs'], /--board needs the name of a report/],
    ];
    for (const [args, said] of refusals) {
      const { code, stdout, stderr } = await run(...args);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, said);
    }
  });
});

describe('a report in the terminal', () => {
  it('has bars and sparklines, and titles in full below their rows where there is no room beside them', async (t) => {
    const story = await tell(t);
    const top = reportText(await story.ask('top-posts', { includeClosed: true }), {
      width: 80,
      charts: true,
    });
    assert.match(top, /\n#101 +20 {2}██████ +2 +Done +Features +2025-12-01\n {2}Dark mode for the editor\n/);
    assert.match(top, /\n#102 +8 {2}██▍ +2 +Open /);
    for (const line of top.split('\n')) assert.ok([...line].length <= 80, line);
    const boards = reportText(await story.ask('boards'), { width: 80, charts: true });
    assert.match(boards, / ▁▁▁▅▁█▁▅▁▁▁▁\n/);
  });

  it('shows what is not known as a dash, not as zero', async (t) => {
    const story = await tell(t, { sweeps: 1 });
    const text = reportText(await story.ask('overview'), { width: 80, charts: true });
    assert.match(text, /\nvotes +22 +– +– +–\n/);
    assert.match(reportCsv(await story.ask('overview')), /\r\nvotes,22,,,\r\n/);
  });

  it('draws bars in eighths, at least one for any value above 0 and none for 0', () => {
    assert.deepEqual([bar(4, 8, 4), bar(1, 1000, 4), bar(0, 8, 4), bar(-3, 8, 4)], ['██', '▏', '', '']);
    assert.equal(sparkline([0, 1, 7, 14]), '▁▂▅█');
    assert.equal(sparkline([0, 0]), '▁▁');
  });
});
