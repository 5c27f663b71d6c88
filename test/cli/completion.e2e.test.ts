import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { tell, UPSTREAM } from '../reports/story.ts';
import { runCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { skipUnless } from '../support/programs.ts';

/** The program as a shell runs it. */
const PROGRAM = `'${process.execPath}' --disable-warning=ExperimentalWarning '${join(import.meta.dirname, '../../src/main.ts')}'`;

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runCli(['completion', shell]);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

function run(shell: string, args: string[], input: string): string {
  const { status, stdout, stderr } = spawnSync(shell, args, { input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}

describe('completion', () => {
  it('in bash offers commands, then those below them, flags, and names of reports', async () => {
    const script = await scriptFor('bash');
    const completed = (command: string, ...words: string[]): string[] =>
      run(
        'bash',
        ['--norc'],
        `${script}\n${command}\nCOMP_WORDS=(feedback-mirror ${words.join(' ')}); COMP_CWORD=${words.length}; _feedback_mirror; printf '%s|' "\${COMPREPLY[@]}"\n`,
      )
        .split('|')
        .slice(0, -1);
    const offers = (...words: string[]): string[] =>
      completed(`feedback-mirror() { ${PROGRAM} "$@"; }`, ...words.map((word) => `'${word}'`));
    assert.deepEqual(offers('st'), ['start', 'status']);
    assert.deepEqual(offers('--json', 'outbox', 'show', '--data'), ['--data-dir']);
    assert.deepEqual(offers('report', 'top'), ['top-posts']);
    assert.deepEqual(offers('export', 'posts', '--format', ''), ['csv', 'ndjson', 'parquet']);
    const named = (...words: string[]): string[] =>
      completed("feedback-mirror() { printf '%s\\n' 'In progress' 'Idea' '$(exit 3)'; }", ...words);
    assert.deepEqual(named('report', '--status', 'I'), [String.raw`In\ progress`, 'Idea']);
    assert.deepEqual(named('report', '--status', "'$'"), [String.raw`\$\(exit\ 3\)`], 'names are never run');
  });

  it(
    'in zsh, at a terminal, completes commands, names of reports and flags',
    skipUnless('zsh'),
    async (t) => {
      const folder = folderFor(t, 'zsh');
      writeFileSync(join(folder, '_feedback-mirror'), await scriptFor('zsh'));
      // A zsh in a terminal of its own; what it has completed is told when the line is accepted.
      const driver = `
zmodload zsh/zpty
zpty -b z zsh -f
zpty -w z 'feedback-mirror() { if [ "$1" = completion ]; then ${PROGRAM} "$@"; else print -r -- "told:[$*]"; fi }'
zpty -w z 'fpath=(${folder} $fpath); autoload -U compinit; compinit -u -D; print rea""dy'
zpty -r z seen "*ready*"
for typed in "outbox app" "export --form" "export --format par"; do
  zpty -n -w z "feedback-mirror $typed"$'\\t\\n'
  zpty -r z seen "*told:*]*" && print -r -- "$seen"
done
zpty -d z`;
      const said = run('zsh', ['-f'], driver).matchAll(/told:\[([\w -]+)\]/g);
      const completed = [...said].map(([, line = '']) => line.trim());
      assert.deepEqual(completed, ['outbox approve', 'export --format', 'export --format parquet']);
    },
  );

  it('in fish offers them with what they mean', skipUnless('fish'), async (t) => {
    const script = await scriptFor('fish');
    const file = join(folderFor(t, 'fish'), 'ask.fish');
    const ask = (typed: string): string => {
      writeFileSync(
        file,
        `function feedback-mirror; ${PROGRAM} $argv; end\n${script}\ncomplete -C '${typed}'\n`,
      );
      return run('fish', ['-N', file], '');
    };
    assert.match(ask('feedback-mirror report top'), /^top-posts\tWhich posts have the most votes\?$/m);
    assert.match(ask('feedback-mirror sync --he'), /^--head\t/m);
  });

  it('names the boards and statuses of the mirror', async (t) => {
    const { path } = await tell(t);
    const env = {
      MIRROR_PATH: path,
      DATA_DIR: dirname(path),
      FEEDBACK_BASE_URL: UPSTREAM,
      FEEDBACK_API_TOKEN: 'nobody-asks',
    };
    const boards = await runCli(['completion', 'words', '--', 'report', '--board', ''], { env });
    assert.deepEqual(
      [boards.code, boards.stdout.split('\n').includes('bugs\t')],
      [0, true],
      boards.stderr + boards.stdout,
    );
    const statuses = await runCli(['completion', 'words', '--', 'report', '--status', ''], { env });
    assert.ok(statuses.stdout.split('\n').includes('Done\t'), statuses.stdout);
  });

  it('says which shells there are', async () => {
    const { code, stderr } = await runCli(['completion', 'tcsh']);
    assert.equal(code, 2);
    assert.match(stderr, /bash, zsh, fish/);
  });
});
