import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import type { Command } from 'commander';
import { SETTINGS } from '../../config/schema.ts';
import { buildProgram } from '../../src/cli/run.ts';
import { REPORT_NAMES, REPORTS } from '../../src/reports/catalogue.ts';

const program = await buildProgram(new AbortController().signal);

/** The command and everything below it. */
function family(command: Command): Command[] {
  return [command, ...command.commands.flatMap(family)];
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** As `--help` prints it, examples included. */
function helpOf(command: Command): string {
  let printed = '';
  command.configureOutput({
    writeOut(text) {
      printed += text;
    },
  });
  command.outputHelp();
  return printed;
}

/** What may be written after the command: its own flags and those above it. */
function flagsOf(command: Command): Set<string> {
  const own = command.options.map(({ long }) => long ?? '');
  return new Set([...own, '--help', ...(command.parent ? flagsOf(command.parent) : [])]);
}

const SETTING_NAMES = new Set(
  Object.values(SETTINGS).flatMap(({ env, secret }) => (secret ? [env, `${env}_FILE`] : [env])),
);

const commands = program.commands.flatMap(family);

describe('the help of report', () => {
  it('names the reports that take --same', () => {
    const report = program.commands.find((command) => command.name() === 'report');
    const said = report?.options.find(({ long }) => long === '--same')?.description;
    const takers = REPORT_NAMES.filter((name) => (REPORTS[name].takes as readonly string[]).includes('same'));
    assert.match(said ?? '', new RegExp(`: for ${takers.join(', ')}$`));
  });
});

const ALL_FLAGS = new Set(commands.flatMap((command) => [...flagsOf(command)]));

const root = resolve(import.meta.dirname, '../..');
const PAGES = globSync(
  ['README.md', 'SECURITY.md', 'CHANGELOG.md', 'docs/**/*.md', 'examples/**/*.{sql,yml}'],
  { cwd: root },
);

/** Lines of commands as the documents print them; a comment behind one is no part of it. */
function commandsIn(text: string): string[][] {
  const lines = text.matchAll(/feedback-mirror ((?:[a-z]+ ?)+[^`\n#|]*)/g);
  return [...lines].map(([, line = '']) =>
    line
      .replaceAll(/"[^"]*"|'[^']*'/g, 'TEXT')
      .trim()
      .split(/\s+/),
  );
}

describe('the documents', () => {
  it('name only commands and flags that exist', () => {
    let checked = 0;
    for (const page of PAGES)
      for (const [name, ...words] of commandsIn(readFileSync(join(root, page), 'utf8'))) {
        const command = program.commands.find((one) => one.name() === name);
        if (!command) continue;
        checked++;
        const flags = new Set(family(command).flatMap((one) => [...flagsOf(one)]));
        for (const flag of words.filter((word) => word.startsWith('--')))
          assert.ok(flags.has(flag.replace(/[.,;:)\]=].*$/, '')), `${page}: ${name} ${flag}`);
      }
    assert.ok(checked > 60, String(checked));
  });

  it('begin no line or piece of code with a command that does not exist', () => {
    const begun = PAGES.flatMap((page) => [
      ...readFileSync(join(root, page), 'utf8').matchAll(/(?:^|`|\$ )(?:npx )?feedback-mirror ([a-z]+)/gm),
    ]).map(([, name = '']) => name);
    const names = new Set(program.commands.map((command) => command.name()));
    assert.ok(begun.length > 100, String(begun.length));
    assert.deepEqual(
      begun.filter((name) => !names.has(name)),
      [],
    );
  });
});

describe('the help', () => {
  it('has commands to speak of, each named once', () => {
    const names = commands.map(pathOf);
    assert.ok(names.length >= 2);
    assert.equal(new Set(names).size, names.length);
  });

  for (const command of commands) {
    it(`of ${pathOf(command)} describes it and its flags`, () => {
      assert.match(command.description(), /\w.{4,}/);
      for (const { flags, description } of command.options) assert.match(description, /\w{3}/, flags);
    });

    it(`of ${pathOf(command)} has an example of it, with a command and flags that exist`, () => {
      const examples = helpOf(command).match(/^ {2}(.*\| )?feedback-mirror .*$/gm) ?? [];
      assert.ok(
        examples.some((line) => line.includes(pathOf(command))),
        `no example of ${pathOf(command)}`,
      );
      for (const line of examples) assertExists(line.slice(line.indexOf('feedback-mirror')));
    });

    it(`of ${pathOf(command)} mentions no flag or setting that does not exist`, () => {
      const help = helpOf(command);
      for (const [flag] of help.matchAll(/(?<![\w-])--[a-z][a-z0-9-]*/g))
        assert.ok(ALL_FLAGS.has(flag), flag);
      for (const [name] of help.matchAll(/\b[A-Z]+(_[A-Z]+)+\b/g)) assert.ok(SETTING_NAMES.has(name), name);
    });
  }
});

/** Follows the words of an example down the commands, then checks its flags. */
function assertExists(example: string): void {
  let command = program;
  for (const word of example.split(/\s+/).slice(1)) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (next) command = next;
  }
  assert.notEqual(command, program, `${example}: no such command`);
  const known = flagsOf(command);
  for (const [flag] of example.matchAll(/(?<=\s)--[a-z][a-z0-9-]*/g))
    assert.ok(known.has(flag), `${example}: ${flag}`);
}

describe('a flag that is given twice', () => {
  const parse = async (...words: string[]) =>
    (await buildProgram(new AbortController().signal)).parseAsync(words, { from: 'user' });

  it('is refused where it takes one value: the last one would count, and the first be lost', async () => {
    for (const words of [
      ['report', 'top-posts', '--board', 'bugs', '--board=ideas'],
      ['export', 'posts', '--data-dir', 'a', '--data-dir', 'b'],
    ])
      await assert.rejects(parse(...words), {
        code: 'usage',
        message: /^--(board|data-dir) was given twice$/,
      });
  });

  it('adds up where it takes several', async () => {
    const built = await buildProgram(new AbortController().signal);
    const rules = built.commands.find((command) => command.name() === 'rules');
    const channel = rules?.commands.find((command) => command.name() === 'channel');
    channel?.parseOptions(['--mail', 'a@example.com, b@example.com', '--mail', 'c@example.com']);
    assert.deepEqual(channel?.opts().mail, ['a@example.com', 'b@example.com', 'c@example.com']);
  });
});
