import type { Command } from 'commander';
import type { Rules } from '../app/rules.ts';
import { AppError } from '../base/errors.ts';
import type { RuleView, TestResult } from '../rules/engine.ts';
import type { Rule } from '../rules/rule.ts';
import { nearest } from '../text/text.ts';
import { type Context, closing, EXIT_CODES, openContext } from './context.ts';
import { table } from './table.ts';

export function register(program: Command, stop: AbortSignal): void {
  const rules = program
    .command('rules')
    .description('what people are told by mail, Slack, Teams or webhook, and how often (RULES_FILE)')
    .addHelpText('after', HELP);
  const on = (
    name: string,
    description: string,
    work: (context: Context, deps: Rules, rule: Rule) => unknown,
  ): void => {
    rules
      .command(name)
      .argument('<rule>', 'the name of a rule')
      .description(description)
      .addHelpText('after', `\nExample:\n  feedback-mirror rules ${name} monday`)
      .action((wanted: string) => withRule(openContext(program, stop), wanted, work));
  };
  rules
    .command('list', { isDefault: true })
    .description('the rules, when each tells next, and what was not sent')
    .addHelpText('after', '\nExample:\n  feedback-mirror rules list')
    .action(() => list(openContext(program, stop)));
  on('preview', 'what the rule would tell of its last period', preview);
  on('test', 'send that to its channels, marked as a test', test);
  on('pause', 'tell nothing until it is resumed', (context, rules, rule) =>
    setPaused(context, rules, rule, true),
  );
  on('resume', 'tell again, of what comes from now on', (context, rules, rule) =>
    setPaused(context, rules, rule, false),
  );
  on('retry', 'send again what was given up', retry);
}

const HELP = `
The service looks at the rules and sends. docs/rules.md has an example of each rule. SMTP_URL and MAIL_FROM set the mail
server, and DASHBOARD_URL the address that links go to.

Examples:
  feedback-mirror rules
  feedback-mirror rules preview monday
  feedback-mirror rules test monday`;

async function open({ settings, input }: Context): Promise<Rules> {
  const { openRules } = await import('../app/rules.ts');
  return openRules(settings, input.cwd);
}

async function withRule(
  context: Context,
  wanted: string,
  work: (context: Context, rules: Rules, rule: Rule) => unknown,
): Promise<void> {
  await using rules = closing(await open(context));
  const names = rules.deps.rules.map(({ name }) => name);
  const rule = rules.deps.rules.find(({ name }) => name === wanted);
  if (!rule) {
    const close = nearest(wanted, names);
    throw new AppError('usage', `there is no rule "${wanted}"`, {
      hint: `${close === null ? '' : `Did you mean ${close}? `}The rules are ${names.join(', ')}.`,
    });
  }
  await work(context, rules, rule);
}

async function list(context: Context): Promise<void> {
  await using rules = closing(await open(context));
  const { viewRules } = await import('../rules/engine.ts');
  const views = viewRules(rules.deps);
  context.answer(views, () => listText(views));
}

function listText(views: readonly RuleView[]): string {
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
