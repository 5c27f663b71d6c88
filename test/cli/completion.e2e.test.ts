import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { tell, UPSTREAM } from '../reports/story.ts';
import { runCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { skipUnless } from '../support/programs.ts';

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
    const offers = (...words: string[]): string[] => {
      const typed = ['feedback-mirror', ...words].map((word) => `'${word}'`).join(' ');
      const ask = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _feedback_mirror; echo "\${COMPREPLY[@]}"`;
      return run('bash', ['--norc'], `${script}\n${ask}\n`).trim().split(' ');
    };
    assert.deepEqual(offers('st'), ['start', 'status']);
    assert.deepEqual(offers('outbox', 'sh'), ['show']);
    assert.deepEqual(offers('--json', 'outbox', 'show', '--data'), ['--data-dir']);
    assert.deepEqual(offers('report', 'top'), ['top-posts']);
    assert.deepEqual(offers('export', 'posts', '--format', ''), ['csv', 'ndjson', 'parquet']);
    assert.deepEqual(offers('query', '--format', 'nd'), ['ndjson']);
    const named = (...words: string[]): string =>
      run(
        'bash',
        ['--norc'],
        `${script}\nfeedback-mirror() { printf '%s\\n' "$2" 'In progress' 'Idea' '$(exit 3)'; }\n` +
          `COMP_WORDS=(feedback-mirror ${words.join(' ')}); COMP_CWORD=${words.length}; _feedback_mirror; printf '%s|' "\${COMPREPLY[@]}"\n`,
      );
    assert.equal(named('report', 'funnel', '--board', 'b'), 'boards|');
    assert.equal(named('report', '--status', 'I'), String.raw`In\ progress|Idea|`);
    assert.equal(named('report', '--status', "'$'"), String.raw`\$\(exit\ 3\)|`, 'names are never run');
    assert.deepEqual(offers('completion', ''), ['bash', 'zsh', 'fish', ...offers('completion', '--')]);
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
zpty -w z 'feedback-mirror() { print -r -- "told:[$*]" }'
zpty -w z 'fpath=(${folder} $fpath); autoload -U compinit; compinit -u -D; print rea""dy'
zpty -r z seen "*ready*"
for typed in "stat" "outbox app" "report top" "export --form" "export --format par"; do
  zpty -n -w z "feedback-mirror $typed"$'\\t\\n'
  zpty -r z seen "*told:*]*" && print -r -- "$seen"
done
zpty -d z`;
      const said = run('zsh', ['-f'], driver).matchAll(/told:\[([\w -]+)\]/g);
      const completed = [...said].map(([, line = '']) => line.trim());
      assert.deepEqual(completed, [
        'status',
        'outbox approve',
        'report top-posts',
        'export --format',
        'export --format parquet',
      ]);
    },
  );

  it('in fish offers them with what they mean', skipUnless('fish'), async (t) => {
    const script = await scriptFor('fish');
    const file = join(folderFor(t, 'fish'), 'ask.fish');
    const ask = (typed: string): string => {
      // As an argument it would be too long.
      writeFileSync(file, `${script}\ncomplete -C '${typed}'\n`);
      return run('fish', ['-N', file], '');
    };
    assert.match(ask('feedback-mirror st'), /^start\tthe service/m);
    assert.match(ask('feedback-mirror outbox sh'), /^show\t/m);
    assert.match(ask('feedback-mirror report top'), /^top-posts\tWhich posts have the most votes\?$/m);
    assert.match(ask('feedback-mirror sync --he'), /^--head\t/m);
    assert.match(ask('feedback-mirror export --format par'), /^parquet\t/m);
    const stub = "function feedback-mirror; printf '%s\\n' 'In progress' 'Idea'; end\n";
    writeFileSync(file, `${script}\n${stub}complete -C 'feedback-mirror report --status '\n`);
    assert.match(run('fish', ['-N', file], ''), /^In progress\b/m);
  });

  it('names the boards and statuses of the mirror', async (t) => {
    const { path } = await tell(t);
    const env = {
      MIRROR_PATH: path,
      DATA_DIR: dirname(path),
      FEEDBACK_BASE_URL: UPSTREAM,
      FEEDBACK_API_TOKEN: 'nobody-asks',
    };
    const boards = await runCli(['completion', 'boards'], { env });
    assert.deepEqual(
      [boards.code, boards.stdout.split('\n').includes('bugs')],
      [0, true],
      boards.stderr + boards.stdout,
    );
    const statuses = await runCli(['completion', 'statuses'], { env });
    assert.ok(statuses.stdout.split('\n').includes('Done'), statuses.stdout);
  });

  it('says which shells there are', async () => {
    const { code, stderr } = await runCli(['completion', 'tcsh']);
    assert.equal(code, 2);
    assert.match(stderr, /bash, zsh, fish/);
  });
});
