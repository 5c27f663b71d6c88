import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Settings } from '../../config/load.ts';
import { AppError } from '../base/errors.ts';
import type { CompanyView } from '../search/browse/company.ts';
import type { CustomerFile, Role } from '../segments/file.ts';
import type { ImportedCustomers, ListedSegment, SegmentsState } from '../segments/store.ts';
import { caseFolded } from '../text/email.ts';
import { counted, grouped, nearest } from '../text/text.ts';
import { type Context, closing, EXIT_CODES, type Flags, openContext, sayIfElsewhere } from './context.ts';
import { table } from './table.ts';

type ImportFlags = Flags<Role | 'by', 'dryRun'>;

export function register(program: Command, stop: AbortSignal): void {
  const segments = program
    .command('segments')
    .description('the customers file: who belongs to which company and plan, and what they are worth')
    .addHelpText('after', HELP);
  segments
    .command('import')
    .argument('<file>', 'a CSV file of customers, or - for standard input')
    .description('take in the customers of a file, in the place of those of the last one')
    .option('--email <column>', 'the column with e-mail addresses, where its name does not say so')
    .option('--domain <column>', 'the column with domains: every address of the domain is this customer')
    .option('--company <column>', 'the column with companies')
    .option('--plan <column>', 'the column with plans')
    .option('--value <column>', 'the column that is added up, such as mrr')
    .option('--by <name>', 'who imports it; your user name unless given')
    .option('--dry-run', 'say what the file holds, and change nothing')
    .addHelpText('after', '\nExample:\n  feedback-mirror segments import customers.csv --dry-run')
    .action((file: string, flags: ImportFlags) => importFile(openContext(program, stop), file, flags));
  segments
    .command('list', { isDefault: true })
    .description('the plans with their customers and values, and when the file was imported')
    .addHelpText('after', '\nExample:\n  feedback-mirror segments list')
    .action(() => list(openContext(program, stop)));
  segments
    .command('show')
    .argument('<company>', 'a company of the customers file')
    .description('all that the people of a company asked for: posts that they wrote or commented on')
    .addHelpText('after', '\nExample:\n  feedback-mirror segments show Acme')
    .action((company: string) => show(openContext(program, stop), company));
  segments
    .command('remove')
    .description('forget every customer of the file')
    .addHelpText('after', '\nExample:\n  feedback-mirror segments remove')
    .action(() => remove(openContext(program, stop)));
}

const HELP = `
A row of the file is one customer: an e-mail address, or a domain that stands for all of its addresses. An address
counts before its domain. Import the next file the same way: it takes the place of this one. Numbers may be written as
1,250.00, 1.250,00 €, 12k or n/a. A cell that is no number is listed with its line, and the rest is taken in.

Then lists, reports, search and exports take --segment: plan=Pro, company=Acme, "value>=1000", or another column.
It means posts that these customers wrote. The API shows no voters, so nothing is known of what they voted for.

Examples:
  feedback-mirror segments import customers.csv
  feedback-mirror segments import crm.csv --domain Website --value "Annual fee"
  feedback-mirror report top-posts --segment plan=Pro
  feedback-mirror report demand --by company`;

async function importFile(context: Context, path: string, flags: ImportFlags): Promise<void> {
  const { settings, answer } = context;
  const { by = whoAmI(), dryRun = false, ...columns } = flags;
  const [{ readCustomers }, { readTextFile }] = await Promise.all([
    import('../segments/file.ts'),
    import('./text-file.ts'),
  ]);
  const file = readCustomers(await readTextFile(path), columns);
  if (file.customers.length === 0)
    throw new AppError('usage', 'the file has no customer that could be read', {
      hint: file.unread[0] ? `Line ${file.unread[0].line}: ${file.unread[0].why}.` : 'It has a header only.',
    });
  const { openSegments } = await import('../app/segments.ts');
  if (dryRun) answer({ ...summaryOf(file), imported: null }, () => importText(file, null));
  else {
    await using store = closing(openSegments(settings, 'segments import'));
    const imported = store.import(file, by, Date.now());
    answer({ ...summaryOf(file), imported }, () => importText(file, imported));
  }
  if (file.unread.some(({ isGuess }) => !isGuess)) process.exitCode = EXIT_CODES.partial;
}

/** Who a change is noted under, unless a flag says otherwise. */
export function whoAmI(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user without a name.
    return `user ${process.getuid?.() ?? '?'}`;
  }
}

function summaryOf({ customers, columns, unread, notes }: CustomerFile) {
  return { customers: customers.length, columns, unread, notes };
}

const LISTED = 20;

function importText(file: CustomerFile, imported: ImportedCustomers | null): string {
  const { columns, customers, unread, notes } = file;
  const named = (['email', 'domain', 'company', 'plan', 'value'] as const).flatMap((role) =>
    columns[role] === null ? [] : [`${role} from "${columns[role]}"`],
  );
  const lines = [
    `Columns: ${[...named, ...columns.extra.map((name) => `"${name}" as it is`)].join(', ')}.`,
    imported === null ? `${counted(customers.length, 'customer')}. Nothing was changed.` : doneText(imported),
    ...notes,
  ];
  if (unread.length > 0) lines.push('', 'Not read, or read with a guess:');
  lines.push(
    ...unread
      .slice(0, LISTED)
      .map(({ line, column, why }) => `  line ${line}${column === null ? '' : `, ${column}`}: ${why}`),
  );
  if (unread.length > LISTED)
    lines.push(`  and ${grouped(unread.length - LISTED)} more; --json lists all of them`);
  return lines.join('\n');
}

function doneText({ customers, people, added, removed, erased }: ImportedCustomers): string {
  const left = erased === 0 ? '' : ` ${counted(erased, 'row')} of erased people stayed out.`;
  return `${counted(customers, 'customer')} imported: ${grouped(added)} new, ${grouped(removed)} gone. ${counted(people, 'person', 'people')} of the mirror belong to them.${left}`;
}

async function list(context: Context): Promise<void> {
  const { settings, answer } = context;
  const place = await sayIfElsewhere([context]);
  const { viewSegments } = await import('../app/segments.ts');
  const state = viewSegments(settings);
  answer({ ...state, ...place }, () => stateText(state));
}

/** The most companies that are listed. */
const COMPANIES = 10;

function stateText(state: SegmentsState): string {
  const { customers, people, importedAt, importedBy, valueName, plans, companies, companyCount } = state;
  if (customers === 0)
    return 'No customers were imported yet. Run "feedback-mirror segments import customers.csv".';
  const figures = (row: ListedSegment) => [row.customers, row.people, row.value];
  const head = ['customers', 'people of the mirror', valueName ?? 'value'];
  const largest = companies.slice(0, COMPANIES);
  return [
    table(
      ['plan', ...head],
      plans.map((row) => [row.plan ?? '(no plan)', ...figures(row)]),
    ),
    ...(largest.length === 0
      ? []
      : [
          '',
          table(
            ['company', 'plan', ...head],
            largest.map((row) => [row.company, row.plan, ...figures(row)]),
          ),
        ]),
    ...(companyCount > largest.length
      ? [`The ${COMPANIES} companies with the greatest value, of ${grouped(companyCount)}.`]
      : []),
    '',
    `${counted(customers, 'customer')}, ${counted(people, 'person', 'people')} of the mirror. Imported at ${importedAt} by ${importedBy}.`,
  ].join('\n');
}

async function show(context: Context, name: string): Promise<void> {
  const { settings, answer } = context;
  const place = await sayIfElsewhere([context]);
  const { openBrowsing } = await import('../app/segments.ts');
  await using browse = closing(openBrowsing(settings));
  const found = browse.company(name);
  if (!found) throw await unknownCompany(settings, name);
  answer({ ...found, ...place }, () => companyText(found));
}

async function unknownCompany(settings: Settings, name: string): Promise<AppError> {
  const { viewSegments } = await import('../app/segments.ts');
  const names = viewSegments(settings).companies.map(({ company }) => company);
  const begun = names.filter((company) => caseFolded(company).startsWith(caseFolded(name)));
  const close = nearest(name, names, 3);
  const meant = begun.length > 0 ? begun.slice(0, 5) : close === null ? [] : [close];
  return new AppError('usage', `no imported customer has the company "${name}"`, {
    hint:
      meant.length > 0
        ? `Did you mean ${meant.join(' or ')}?`
        : '"feedback-mirror segments" lists the companies with the greatest value.',
  });
}

const NO_VOTES = 'The API shows no voters: these are the posts that its people wrote or commented on.';

function companyText({ company, plans, value, valueName, people, posts }: CompanyView): string {
  const worth = value === null ? '' : `, ${valueName ?? 'value'} ${grouped(value)}`;
  const head = `${company}: ${plans.join(', ') || 'no plan'}${worth}, ${counted(people.length, 'person', 'people')} of the mirror`;
  const rows = posts.map(({ id, votes, status, how, title }) => [`#${id}`, votes, status, how, title]);
  if (rows.length === 0) return `${head}\nThey wrote nothing that is still there.`;
  return [head, table(['post', 'votes', 'status', 'they', 'title'], rows), NO_VOTES].join('\n');
}

async function remove({ settings, answer }: Context): Promise<void> {
  const { openSegments } = await import('../app/segments.ts');
  await using store = closing(openSegments(settings, 'segments remove'));
  const removed = store.remove();
  answer({ removed }, () => `${counted(removed, 'customer')} removed.`);
}
