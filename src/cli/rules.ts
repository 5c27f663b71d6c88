import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Rules } from '../app/rules.ts';
import { AppError } from '../base/errors.ts';
import type { Rule } from '../contract/telling.ts';
import { RULE_EVERY, RULE_WHATS } from '../contract/telling.ts';
import type { RuleView, TestResult } from '../rules/engine.ts';
import { nearest } from '../text/text.ts';
import {
  type Context,
  closing,
  EXIT_CODES,
  openContext,
  refuseElsewhere,
  sayIfElsewhere,
} from './context.ts';
import { table } from './table.ts';

export function register(program: Command, stop: AbortSignal): void {
  const rules = program
    .command('rules')
    .description('what people are told by mail, Slack, Teams or webhook, and how often')
    .addHelpText('after', HELP);
  rules
    .command('list', { isDefault: true })
    .description('the rules, when each tells next, and what was not sent')
    .addHelpText('after', '\nExample:\n  feedback-mirror rules list')
    .action(() => list(openContext(program, stop)));
  rules
    .command('channel')
    .argument('<channel>', 'its name: letters, digits, - and _')
    .description('set where messages go, under a name for rules')
    .option('--mail <addresses>', 'by mail, with commas between; needs SMTP_URL and MAIL_FROM', collectListed)
    .option('--slack-file <path>', 'to Slack: a file with the address of an incoming webhook')
    .option('--teams-file <path>', 'to Teams: a file with the address of an incoming webhook')
    .option('--webhook <url>', 'to a program, signed with the key in --secret-file')
    .option('--secret-file <path>', 'the key for --webhook: 24 to 64 bytes in base64')
    .option('--remove', 'take it out of the file')
    .addHelpText('after', '\nExample:\n  feedback-mirror rules channel product --mail pm@example.com')
    .action((name: string, flags: ChannelFlags) => setChannel(openContext(program, stop), name, flags));
  rules
    .command('set')
    .argument('<rule>', 'its name: letters, digits, - and _')
    .description('set what is told, how often and where; a rule of this name is replaced')
    .requiredOption('--what <what>', RULE_WHATS.join(', '))
    .requiredOption('--every <how often>', RULE_EVERY.join(', '))
    .requiredOption('--to <channels>', 'names of channels, with commas between', collectListed)
    .option('--at <time>', 'of daily and weekly: 09:00, or mon 09:00')
    .option('--zone <zone>', 'time zone of --at, such as Europe/Berlin')
    .option('--boards <names>', 'only these boards, with commas between', collectListed)
    .option('--statuses <names>', 'of status: only posts that get one of these', collectListed)
    .option('--sources <all>', 'of digest: one message over all sources of sources.yaml')
    .option('--segment <filter>', 'of customer: such as plan=Pro')
    .option('--days <number>', 'of unanswered: after so many days')
    .addHelpText(
      'after',
      '\nExample:\n  feedback-mirror rules set monday --what digest --every weekly --at "mon 09:00" --to product',
    )
    .action((name: string, flags: RuleOptions) => setRule(openContext(program, stop), name, flags));
  for (const [name, { description, work }] of Object.entries(ON_A_RULE))
    rules
      .command(name)
      .argument('<rule>', 'the name of a rule')
      .description(description)
      .addHelpText('after', `\nExample:\n  feedback-mirror rules ${name} monday`)
      .action((wanted: string) => withRule(openContext(program, stop), wanted, work));
}

type RuleWork = (context: Context, rules: Rules, rule: Rule) => unknown;

const ON_A_RULE: Record<string, { description: string; work: RuleWork }> = {
  remove: { description: 'take the rule out of the file', work: remove },
  preview: { description: 'what the rule would tell of its last period', work: preview },
  test: { description: 'send that to its channels, marked as a test', work: test },
  pause: {
    description: 'tell nothing until it is resumed',
    work: (...given) => setPaused(...given, true),
  },
  resume: {
    description: 'tell again, of what comes from now on',
    work: (...given) => setPaused(...given, false),
  },
  retry: { description: 'send again what was given up', work: retry },
};

const HELP = `
The rules are in a file, RULES_FILE or rules.yaml in the data folder. Edit it, or use "channel", "set" and "remove". The
service takes in a change within seconds. docs/rules.md has an example of each rule. SMTP_URL and MAIL_FROM set the mail
server, and DASHBOARD_URL the address that links go to.

Examples:
  feedback-mirror rules channel product --mail pm@example.com
  feedback-mirror rules set monday --what digest --every weekly --at "mon 09:00" --to product
  feedback-mirror rules
  feedback-mirror rules preview monday
  feedback-mirror rules test monday`;

interface ChannelFlags {
  mail?: string[];
  slackFile?: string;
  teamsFile?: string;
  webhook?: string;
  secretFile?: string;
  remove?: true;
}

interface RuleOptions extends Record<'what' | 'every', string> {
  to: string[];
  at?: string;
  zone?: string;
  boards?: string[];
  statuses?: string[];
  sources?: string;
  segment?: string;
  days?: string;
}

/** The parts between commas, of every time that the flag is given. */
function collectListed(text: string, before: string[] = []): string[] {
  return [...before, ...text.split(',').map((part) => part.trim())];
}

async function setChannel(context: Context, channel: string, flags: ChannelFlags): Promise<void> {
  const { mail, slackFile, teamsFile, webhook, secretFile, remove: isRemoved } = flags;
  const place = (path: string | undefined) => path && resolve(context.input.cwd, path);
  const given = {
    ...{ mail, slack_file: place(slackFile), teams_file: place(teamsFile) },
    ...{ webhook, secret_file: place(secretFile) },
  };
  await refuseElsewhere(context);
  await using rules = closing(await open(context));
  await rules.change({ channel, given: isRemoved ? null : said(given) });
  const done = isRemoved ? 'removed' : 'set';
  context.answer({ channel, done }, () => `the channel ${channel} is ${done}`);
}

async function setRule(context: Context, rule: string, flags: RuleOptions): Promise<void> {
  const { to, days, ...rest } = flags;
  const given = { name: rule, ...rest, days: days === undefined ? undefined : Number(days), to };
  await refuseElsewhere(context);
  await using rules = closing(await open(context));
  await rules.change({ rule, given: said(given) });
  const { viewRules } = await import('../rules/engine.ts');
  const views = viewRules(rules.deps);
  context.answer(
    views.find(({ name }) => name === rule),
    () => listText(views),
  );
}

async function remove({ answer }: Context, rules: Rules, { name }: Rule): Promise<void> {
  await rules.change({ rule: name, given: null });
  answer({ rule: name, removed: true }, () => `${name} is removed`);
}

function said(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

async function open({ settings, input }: Context): Promise<Rules> {
  const { openRules } = await import('../app/rules.ts');
  return openRules(settings, input);
}

async function withRule(context: Context, wanted: string, work: RuleWork): Promise<void> {
  await refuseElsewhere(context);
  await using rules = closing(await open(context));
  const names = rules.deps.rules.map(({ name }) => name);
  const rule = rules.deps.rules.find(({ name }) => name === wanted);
  if (!rule) {
    const close = nearest(wanted, names);
    throw new AppError('usage', `there is no rule "${wanted}"`, {
      hint:
        names.length === 0
          ? NONE
          : `${close === null ? '' : `Did you mean ${close}? `}The rules are ${names.join(', ')}.`,
    });
  }
  await work(context, rules, rule);
}

async function list(context: Context): Promise<void> {
  await sayIfElsewhere([context]);
  await using rules = closing(await open(context));
  const { viewRules } = await import('../rules/engine.ts');
  const views = viewRules(rules.deps);
  context.answer(views, () => listText(views));
}

const NONE = 'There is no rule yet. "feedback-mirror rules --help" has two commands to begin with.';

function listText(views: readonly RuleView[]): string {
  if (views.length === 0) return NONE;
  const rows = views.map(({ name, what, every, to, pausedAt, next, waiting, failed }) => {
    const when = pausedAt === null ? (next ?? 'at once') : 'paused';
    return [name, what, every, to.join(', '), when, waiting, failed];
  });
  const errors = views.flatMap(({ name, lastError }) =>
    lastError === null ? [] : [`${name}: ${lastError}`],
  );
  const lines = [table(['rule', 'what', 'every', 'to', 'next', 'waiting', 'given up'], rows), ...errors];
  return lines.join('\n');
}

async function preview({ answer }: Context, { deps }: Rules, rule: Rule): Promise<void> {
  const [{ previewLetter }, { asText }] = await Promise.all([
    import('../rules/engine.ts'),
    import('../rules/forms.ts'),
  ]);
  const letter = await previewLetter(deps, rule);
  answer(letter, () => asText(letter).trimEnd());
}

async function test({ answer, signal }: Context, { deps }: Rules, rule: Rule): Promise<void> {
  const { sendTest } = await import('../rules/engine.ts');
  const results = await sendTest(deps, rule, signal);
  answer(results, () => results.map(resultText).join('\n'));
  if (results.some(({ outcome }) => outcome.kind !== 'sent')) process.exitCode = EXIT_CODES.partial;
}

function resultText({ channel, outcome }: TestResult): string {
  if (outcome.kind === 'sent') return `${channel}: sent`;
  const what = outcome.kind === 'refused' ? 'not sent' : 'no answer, it may have arrived';
  return `${channel}: ${what}: ${outcome.error}`;
}

async function setPaused({ answer }: Context, { deps }: Rules, rule: Rule, isPaused: boolean): Promise<void> {
  const { pauseRule } = await import('../rules/engine.ts');
  pauseRule(deps, rule, isPaused);
  answer({ rule: rule.name, paused: isPaused }, () => `${rule.name} is ${isPaused ? 'paused' : 'resumed'}`);
}

function retry({ answer }: Context, { deps }: Rules, rule: Rule): void {
  const again = deps.store.retryFailed(rule.name);
  answer(
    { rule: rule.name, again },
    () => `${again} of the rule ${rule.name} ${again === 1 ? 'is' : 'are'} sent again`,
  );
}
