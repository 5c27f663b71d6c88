import type { Circumstances } from './machine.ts';
import { repetitions } from './numbers.ts';
import type { BenchSet, Row } from './set.ts';
import { cells, HEAD } from './table.ts';

const TITLE = `# What was measured

Written by \`npm run bench\`; a run replaces the sections of the sets it measured. Medians of interleaved repetitions, a
warm-up apart; the spread is the smallest and the largest of them. \`feedback-mirror\` is the command line of this checkout
from its start to its end unless a note says otherwise, and the server it talks to is another process.
`;

/** One set as a section of the file. */
export function section(set: BenchSet, rows: Row[], repeat: number, where: Circumstances): string {
  const facts = [
    set.about,
    '',
    `- ${where.date}, commit ${where.commit}, \`npm run bench -- ${set.name}${repeat === 5 ? '' : ` --repeat ${repeat}`}\``,
    `- ${where.machine}`,
    `- ${where.versions}`,
    `- ${set.sizes}; ${repetitions(repeat)}`,
  ];
  return [`## ${set.name}`, '', ...facts, '', ...markdownTable(rows), '', ...remarks(rows), ''].join('\n');
}

/** The file with these sections in the place of the old ones, in the order of the sets; what is no set any more goes. */
export function withSections(
  before: string,
  fresh: ReadonlyMap<string, string>,
  order: readonly string[],
): string {
  const known = new Map(
    before
      .split(/^(?=## )/m)
      .slice(1)
      .map((text) => [/^## (.*)$/m.exec(text)?.[1]?.trim() ?? '', `${text.trimEnd()}\n`] as const),
  );
  const sections = order.flatMap((name) => fresh.get(name) ?? known.get(name) ?? []);
  return [TITLE, ...sections].join('\n');
}

function markdownTable(rows: Row[]): string[] {
  const line = (row: string[]): string => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(HEAD), line(HEAD.map(() => '---')), ...rows.map((row) => line(cells(row)))];
}

/** What ran in each row, and what one has to know about it. */
function remarks(rows: Row[]): string[] {
  return rows.map(({ row, ours, peer, note }) => {
    const beside = peer && peer.values.length > 0 ? `; beside it \`${peer.command}\`` : '';
    return `- ${row}: \`${ours.command}\`${beside}.${note ? ` ${note}` : ''}`;
  });
}
