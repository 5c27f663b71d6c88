import { parseArgs } from 'node:util';
import { messageOf } from '../../src/base/errors.ts';
import { KNOWN_TODAY } from './known-today.ts';
import { type Findings, markdown, type Notes, openFindings, passes } from './report.ts';
import { equalDates } from './scenarios/equal-dates.ts';
import { imports } from './scenarios/imports.ts';
import { lives } from './scenarios/live.ts';
import { mirrors } from './scenarios/mirror.ts';
import { nextHost } from './scenarios/next-host.ts';
import { runScenario, type Scenario } from './scenarios/scenario.ts';
import { missingPackages, type Stack, startStack } from './stack.ts';

/**
 * The program against a real service: Django REST Framework, gunicorn, nginx and PostgreSQL, judged by that service's own database.
 *
 *   npm run real                        everything
 *   npm run real -- --minutes 4         a part that takes no longer
 *   npm run real -- --only "equal dates"
 */
const USAGE = 'npm run real -- [--minutes N] [--only NAME] [--seed N]';

const SCENARIOS: readonly Scenario[] = [...mirrors, ...lives, equalDates, nextHost, ...imports];
/** What `--minutes` leaves out when there are fewer than this. */
const WHOLE_MINUTES = 25;
const LONG_ONLY = [
  ...['mirror by offset', 'mirror by cursor', 'live traffic by cursor', 'live traffic oldest first'],
  ...['nothing', 'limit_req answers 503', 'a throttle that answers 429', 'restart of the database'].map(
    (name) => `import through ${name}`,
  ),
];

/** So many scenarios run at the same time where that disturbs none. */
const BESIDE = 4;

interface Wanted {
  scenarios: Scenario[];
  isShort: boolean;
  seed: number;
}

function wanted(): Wanted {
  const options = {
    minutes: { type: 'string' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
  } as const;
  const { values } = parseArgs({ options });
  const [minutes, seed] = [Number(values.minutes ?? WHOLE_MINUTES), Number(values.seed)];
  if (!(minutes >= 4)) throw new Error(`--minutes ${values.minutes} is not a number of 4 or more`);
  if (!Number.isInteger(seed)) throw new Error(`--seed ${values.seed} is not a whole number`);
  const isShort = minutes < WHOLE_MINUTES;
  const { only } = values;
  const isWanted = ({ name }: Scenario): boolean =>
    only ? name.includes(only) : !isShort || !LONG_ONLY.includes(name);
  const scenarios = SCENARIOS.filter(isWanted);
  if (scenarios.length === 0)
    throw new Error(`--only ${only} is in no name of: ${SCENARIOS.map(({ name }) => name).join(', ')}`);
  return { scenarios, isShort, seed };
}

function wantedOrExit(): Wanted {
  try {
    return wanted();
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${USAGE}\n`);
    process.exit(2);
  }
}

/** The findings in the order of the scenarios. */
async function runAll({ scenarios, ...plan }: Wanted, stack: Stack): Promise<Findings[]> {
  const all = scenarios.map((scenario) => ({ scenario, findings: openFindings(scenario.name) }));
  const runNext = async (waiting: typeof all): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      await runOne(next.scenario, next.findings, stack, plan);
  };
  await runNext(all.filter(({ scenario }) => !scenario.isBeside));
  const beside = all.filter(({ scenario }) => scenario.isBeside);
  await Promise.all(Array.from({ length: BESIDE }, () => runNext(beside)));
  return all.map(({ findings }) => findings);
}

async function runOne(
  scenario: Scenario,
  notes: Notes,
  stack: Stack,
  plan: Pick<Wanted, 'seed' | 'isShort'>,
): Promise<void> {
  const began = performance.now();
  try {
    await runScenario(scenario, stack, { notes, ...plan });
  } catch (error) {
    notes.check('the scenario runs to its end', false, messageOf(error));
  }
  process.stderr.write(`${scenario.name}: ${((performance.now() - began) / 1000).toFixed(0)} s\n`);
}

const plan = wantedOrExit();
const missing = await missingPackages();
if (missing.length > 0) {
  process.stderr.write(
    `npm run real needs Debian packages that are not installed: apt-get install ${missing.join(' ')}\n`,
  );
  process.exit(2);
}
const stack = await startStack();
const all = await runAll(plan, stack).finally(() => stack.stop());
const isGreen = passes(all, KNOWN_TODAY);
process.stdout.write(`${markdown(all, KNOWN_TODAY)}\n\n${isGreen ? 'Everything held.' : 'FAILED.'}\n`);
process.exit(isGreen ? 0 : 1);
