/** What one scenario found: figures for the reader, and checks that must hold. */
export interface Findings {
  readonly scenario: string;
  readonly figures: [what: string, value: string][];
  readonly checks: Check[];
}

export interface Check {
  name: string;
  holds: boolean;
  /** What was found instead. */
  detail: string;
}

/** Handed to a scenario. */
export interface Notes {
  figure(what: string, value: string | number): void;
  check(name: string, holds: boolean, detail?: string): void;
}

export function openFindings(scenario: string): Findings & Notes {
  const findings: Findings = { scenario, figures: [], checks: [] };
  return {
    ...findings,
    figure: (what, value) => void findings.figures.push([what, String(value)]),
    check: (name, holds, detail = '') => void findings.checks.push({ name, holds, detail }),
  };
}

/** Checks that fail today, as `scenario: check`, each with the reason. */
export type KnownToday = Readonly<Record<string, string>>;

type Verdict = 'holds' | 'known' | 'failed' | 'mark';

function verdictOf(scenario: string, { name, holds }: Check, known: KnownToday): Verdict {
  const isKnown = `${scenario}: ${name}` in known;
  if (isKnown) return holds ? 'mark' : 'known';
  return holds ? 'holds' : 'failed';
}

/** A mark whose check holds fails the run: a mark that stays would hide the next defect. */
export function passes(all: readonly Findings[], known: KnownToday): boolean {
  return all.every(({ scenario, checks }) =>
    checks.every((check) => ['holds', 'known'].includes(verdictOf(scenario, check, known))),
  );
}

/** Two tables in Markdown: what was measured, and what must hold. */
export function markdown(all: readonly Findings[], known: KnownToday): string {
  const figures = all.flatMap(({ scenario, figures: lines }) =>
    lines.map(([what, value]) => row(scenario, what, value)),
  );
  const checks = all.flatMap(({ scenario, checks: list }) =>
    list.map((check) => row(scenario, check.name, result(scenario, check, known))),
  );
  return [
    table(row('scenario', 'measured', 'value'), figures),
    table(row('scenario', 'what must hold', 'result'), checks),
  ].join('\n\n');
}

function result(scenario: string, check: Check, known: KnownToday): string {
  const texts: Record<Verdict, string> = {
    holds: 'holds',
    known: `known today: ${known[`${scenario}: ${check.name}`]} (${check.detail})`,
    failed: `**FAILED** ${check.detail}`,
    mark: '**FAILED** It holds now: remove its mark from KNOWN_TODAY',
  };
  return texts[verdictOf(scenario, check, known)];
}

function row(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replace(/\s+/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;
}

function table(head: string, rows: readonly string[]): string {
  return [head, head.replace(/[^|]+/g, '---'), ...rows].join('\n');
}
