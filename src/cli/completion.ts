import type { Command } from 'commander';
import { mirrorOf } from '../app/place.ts';
import { AppError } from '../base/errors.ts';
import { oneLine } from '../text/text.ts';
import { closing, openContext } from './context.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('completion')
    .argument('<shell>', `${Object.keys(SCRIPTS).join(', ')}; or words, which the script asks for`)
    .argument('[line...]', 'with words: those of the command line up to the cursor')
    .description('print what makes a shell complete commands, flags, boards and statuses')
    .addHelpText('after', HELP)
    .action(async (shell: string, line: string[]) => {
      if (shell === 'words') {
        const found = await wordsAfter(program, line, stop);
        process.stdout.write(found.map(({ text, meaning }) => `${text}\t${meaning}\n`).join(''));
        return;
      }
      if (!Object.hasOwn(SCRIPTS, shell))
        throw new AppError('usage', `there is no completion for ${shell}`, {
          hint: `There is one for ${Object.keys(SCRIPTS).join(', ')}.`,
        });
      process.stdout.write(SCRIPTS[shell as keyof typeof SCRIPTS]);
    });
}

const HELP = `
Examples:
  feedback-mirror completion bash > ~/.local/share/bash-completion/completions/feedback-mirror
  feedback-mirror completion zsh > "\${fpath[1]}/_feedback-mirror"
  feedback-mirror completion fish > ~/.config/fish/completions/feedback-mirror.fish`;

/** The scripts ask the program at each Tab. Names come from the service: the shells compare and quote them, and never expand them. */
const SCRIPTS = {
  bash: `_feedback_mirror() {
  local one
  COMPREPLY=()
  while IFS=$'\\t' read -r one _; do
    [[ $one == "\${COMP_WORDS[COMP_CWORD]}"* ]] && COMPREPLY+=("$(printf %q "$one")")
  done < <("\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _feedback_mirror feedback-mirror
`,
  // The first use of an autoloaded file runs it whole.
  zsh: `#compdef feedback-mirror
_feedback-mirror() {
  local line
  local -a found
  for line in "\${(@f)$("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n "$line" ]] && found+=("\${\${line//:/\\:}/$'\\t'/:}")
  done
  _describe 'word' found || _files
}
if [ "$funcstack[1]" = "_feedback-mirror" ]; then
  _feedback-mirror "$@"
else
  compdef _feedback-mirror feedback-mirror
fi
`,
  fish: `complete -c feedback-mirror -a '(feedback-mirror completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

interface Word {
  text: string;
  meaning: string;
}

const plain = (names: readonly string[]): Word[] =>
  names.map((text) => ({ text: oneLine(text), meaning: '' }));

/** What may follow; the last word of the line is the one at the cursor, and may be empty. */
async function wordsAfter(program: Command, line: readonly string[], stop: AbortSignal): Promise<Word[]> {
  let command = program;
  for (const word of line.slice(0, -1))
    command = command.commands.find((below) => below.name() === word) ?? command;
  const values = await valuesOf(program, line.at(-2) ?? '', command, stop);
  if (values) return values;
  const flags = [...command.options, ...(command.parent ? settingFlags(program) : [])];
  const words = [
    ...(await argumentsOf(command)),
    ...command.commands.map((below) => ({ text: below.name(), meaning: below.description() })),
    ...flags.map(({ long, description }) => ({ text: long ?? '', meaning: description })),
    { text: '--help', meaning: 'explain it' },
  ];
  const isFlag = (text = ''): boolean => text.startsWith('-');
  return words.filter(({ text }) => isFlag(text) === isFlag(line.at(-1)));
}

/** Settings are flags of every command; --version stands alone. */
function settingFlags({ options }: Command): Command['options'] {
  return options.filter(({ long }) => long !== '--version');
}

/** What may come after a flag; null where anything can. */
async function valuesOf(
  program: Command,
  flag: string,
  command: Command,
  stop: AbortSignal,
): Promise<Word[] | null> {
  if (flag === '--format') return plain(await formatsOf(command.name()));
  const isBoard = flag === '--board';
  if (!isBoard && !['--status', '--delivered'].includes(flag)) return null;
  const { openReportReader } = await import('../reports/store.ts');
  await using reader = closing(openReportReader(mirrorOf(openContext(program, stop).settings)));
  return plain(
    isBoard
      ? (await reader.boards()).map(({ slug }) => slug)
      : (await reader.statuses()).map(({ name }) => name),
  );
}

async function formatsOf(command: string): Promise<readonly string[]> {
  if (command === 'query') return (await import('./query.ts')).QUERY_FORMATS;
  if (command === 'report') return (await import('./report.ts')).REPORT_FORMATS;
  return command === 'export' ? (await import('../export/formats.ts')).EXPORT_FORMATS : ['csv'];
}

async function argumentsOf(command: Command): Promise<Word[]> {
  const name = command.name();
  if (name === 'report') {
    const { REPORTS } = await import('../reports/catalogue.ts');
    return Object.entries(REPORTS).map(([text, { answers }]) => ({ text, meaning: answers }));
  }
  if (name === 'export') return plain([...(await import('../export/store/tables.ts')).EXPORT_TABLES, 'all']);
  if (name === 'sync') return plain(['posts', 'comments']);
  return name === 'completion' ? plain(Object.keys(SCRIPTS)) : [];
}
