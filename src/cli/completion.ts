import type { Command } from 'commander';
import { AppError } from '../base/errors.ts';
import { oneLine } from '../text/text.ts';
import { type Context, closing, openContext } from './context.ts';

const SHELLS = { bash, zsh, fish };

/** What the script asks the program for at each key: these change, and a tenth of a second is worth them. */
const NAMES = ['boards', 'statuses'] as const;
type Names = (typeof NAMES)[number];

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('completion')
    .argument(
      '<shell>',
      `${Object.keys(SHELLS).join(', ')}; or ${NAMES.join(', ')}, which the script asks for`,
    )
    .description('print what makes a shell complete commands, flags, boards and statuses')
    .addHelpText('after', HELP)
    .action(async (shell: string) => {
      const names = NAMES.find((known) => known === shell);
      if (names) return await printNames(openContext(program, stop), names);
      if (!Object.hasOwn(SHELLS, shell))
        throw new AppError('usage', `there is no completion for ${shell}`, {
          hint: `There is one for ${Object.keys(SHELLS).join(', ')}.`,
        });
      process.stdout.write(SHELLS[shell as keyof typeof SHELLS](await levels(program)));
    });
}

const HELP = `
Examples:
  feedback-mirror completion bash > ~/.local/share/bash-completion/completions/feedback-mirror
  feedback-mirror completion zsh > "\${fpath[1]}/_feedback-mirror"
  feedback-mirror completion fish > ~/.config/fish/completions/feedback-mirror.fish`;

/** Prints boards by their short names and statuses by their names, one a line. */
async function printNames({ settings, print }: Context, names: Names): Promise<void> {
  const { readForReports } = await import('../app/readers.ts');
  await using reader = closing(readForReports(settings));
  const found =
    names === 'boards'
      ? (await reader.boards()).map(({ slug }) => slug)
      : (await reader.statuses()).map(({ name }) => name);
  if (found.length > 0) print(found.map(oneLine).join('\n'));
}

/** What may come after the words of a command. */
interface Level {
  /** `outbox show`; empty for the program itself. */
  path: string;
  words: Word[];
  /** What may come after a flag, where only a few words can. */
  values: Readonly<Record<string, readonly string[]>>;
}

interface Word {
  text: string;
  meaning: string;
}

/** A list of all, made when the script is: to ask the program at each key would take a tenth of a second. */
async function levels(program: Command): Promise<Level[]> {
  const [{ REPORTS }, { EXPORT_TABLES }, exports, query, report] = await Promise.all([
    import('../reports/catalogue.ts'),
    import('../export/store/tables.ts'),
    import('../export/formats.ts'),
    import('./query.ts'),
    import('./report.ts'),
  ]);
  const plain = (names: readonly string[]): Word[] => names.map((text) => ({ text, meaning: '' }));
  const values: Record<string, Word[]> = {
    report: Object.entries(REPORTS).map(([text, { answers }]) => ({ text, meaning: answers })),
    export: plain([...EXPORT_TABLES, 'all']),
    sync: plain(['posts', 'comments']),
    completion: plain(Object.keys(SHELLS)),
  };
  const formats: Record<string, readonly string[]> = {
    export: exports.EXPORT_FORMATS,
    query: query.QUERY_FORMATS,
    report: report.REPORT_FORMATS,
    outbox: ['csv'],
    'outbox list': ['csv'],
  };
  const levelsOf = (command: Command, path: string): Level[] => [
    {
      path,
      words: [...(values[path] ?? []), ...wordsOf(command)],
      values: formats[path] ? { '--format': formats[path] } : {},
    },
    ...command.commands.flatMap((below) => levelsOf(below, `${path} ${below.name()}`.trim())),
  ];
  return levelsOf(program, '');
}

function wordsOf(command: Command): Word[] {
  const flags = [...command.options, ...(command.parent ? globalFlags(command) : [])];
  return [
    ...command.commands.map((below) => ({ text: below.name(), meaning: below.description() })),
    ...flags.map(({ long, description }) => ({ text: long ?? '', meaning: description })),
    { text: '--help', meaning: 'explain it' },
  ];
}

/** Settings are flags of every command; --version stands alone. */
function globalFlags(command: Command): Command['options'] {
  let top = command;
  while (top.parent) top = top.parent;
  return top.options.filter(({ long }) => long !== '--version');
}

/** The words before the cursor that are commands make up the level; others are flags and values. */
function pathCases(found: Level[]): string {
  return found
    .map(({ path }) => path)
    .filter(Boolean)
    .map((path) => `'${path}'`)
    .join('|');
}

/** The level and the flag before the cursor, where that flag takes one of a few words. */
function valueCases(found: Level[], assign: (values: readonly string[]) => string): string {
  return found
    .flatMap(({ path, values }) => Object.entries(values).map(([flag, words]) => ({ path, flag, words })))
    .map(({ path, flag, words }) => `    '${path} ${flag}') ${assign(words)} ;;`)
    .join('\n');
}

function bash(found: Level[]): string {
  const cases = found.map(
    ({ path, words }) => `    '${path}') words='${words.map(({ text }) => text).join(' ')}' ;;`,
  );
  // The names come from the service: the shell compares and quotes them, and never expands them.
  return `_feedback_mirror() {
  local i next path='' words='' names='' one cur=\${COMP_WORDS[COMP_CWORD]}
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
    --board) names=boards ;;
    --status|--delivered) names=statuses ;;
  esac
  if [[ -n $names ]]; then
    COMPREPLY=()
    while IFS= read -r one; do
      [[ $one == "$cur"* ]] && COMPREPLY+=("$(printf %q "$one")")
    done < <("\${COMP_WORDS[0]}" completion $names 2>/dev/null)
    return
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${path:+$path }\${COMP_WORDS[i]}"
    case "$next" in ${pathCases(found)}) path=$next ;; esac
  done
  case "$path \${COMP_WORDS[COMP_CWORD - 1]}" in
${valueCases(found, (values) => `words='${values.join(' ')}'`)}
    *) case "$path" in
${cases.join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _feedback_mirror feedback-mirror
`;
}

function zsh(found: Level[]): string {
  const word = ({ text, meaning }: Word): string => {
    const escaped = meaning.replaceAll('\\', '\\\\').replaceAll(':', '\\:').replaceAll("'", "'\\''");
    return meaning === '' ? `'${text}'` : `'${text}:${escaped}'`;
  };
  const cases = found.map(({ path, words }) => `    '${path}') found=(${words.map(word).join(' ')}) ;;`);
  // What begins with a dash is offered after a dash, as zsh does for its own commands. The first use of an autoloaded file runs it whole.
  return `#compdef feedback-mirror
_feedback-mirror() {
  local i next command=''
  local -a found names flags
  case "\${words[CURRENT - 1]}" in
    --board) found=("\${(@f)$("\${words[1]}" completion boards 2>/dev/null)}") ;;
    --status|--delivered) found=("\${(@f)$("\${words[1]}" completion statuses 2>/dev/null)}") ;;
  esac
  if (( \${#found} )); then
    compadd -a found
    return
  fi
  for ((i = 2; i < CURRENT; i++)); do
    next="\${command:+$command }\${words[i]}"
    case "$next" in ${pathCases(found)}) command=$next ;; esac
  done
  case "$command \${words[CURRENT - 1]}" in
${valueCases(found, (values) => `found=(${values.join(' ')})`)}
    *) case "$command" in
${cases.join('\n')}
    esac ;;
  esac
  names=(\${found:#--*})
  flags=(\${(M)found:#--*})
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o 'option' flags
  else
    _describe 'command' names || _files
  fi
}
if [ "$funcstack[1]" = "_feedback-mirror" ]; then
  _feedback-mirror "$@"
else
  compdef _feedback-mirror feedback-mirror
fi
`;
}

function fish(found: Level[]): string {
  const lines = found.flatMap(({ path, words, values }) => {
    const when = path === '' ? '__fish_use_subcommand' : seen(path, found);
    return words.map(({ text, meaning }) => {
      const offered = values[text]?.join(' ') ?? asked(text);
      const taken = offered === null ? '' : ` -x -a '${offered}'`;
      const what = text.startsWith('--') ? `-l ${text.slice(2)}${taken}` : `-a ${text}`;
      return `complete -c feedback-mirror -n '${when}' ${what} -d '${meaning.replaceAll(/[\\']/g, '\\$&')}'`;
    });
  });
  return `${lines.join('\n')}\n`;
}

/** What fish runs for the values of a flag. */
function asked(flag: string): string | null {
  const names = flag === '--board' ? 'boards' : /^--(?:status|delivered)$/.test(flag) ? 'statuses' : null;
  return names && `(feedback-mirror completion ${names} 2>/dev/null)`;
}

/** All words of the path, and none that would lead further down. */
function seen(path: string, found: Level[]): string {
  const below = found
    .filter((level) => level.path.startsWith(`${path} `))
    .map((level) => level.path.slice(path.length + 1));
  const words = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  return [...words, ...(below.length > 0 ? [`not __fish_seen_subcommand_from ${below.join(' ')}`] : [])].join(
    '; and ',
  );
}
