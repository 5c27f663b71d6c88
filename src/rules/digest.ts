import { iso } from '../base/clock.ts';
import type { Rule } from '../contract/telling.ts';
import type { ReportRequest } from '../reports/report.ts';
import { runReport } from '../reports/run.ts';
import { deliveredIn } from '../reports/shipped.ts';
import { statusSets } from '../reports/status-sets.ts';
import type { ReportReader } from '../reports/store.ts';
import { counted } from '../text/text.ts';
import { type Letter, type LetterContext, type PostOf, postSection, type Section } from './letter.ts';

export interface DigestDeps extends LetterContext {
  reader: ReportReader;
  usualDelivered: readonly string[] | null;
}

/** Every source of sources.yaml, opened for one message. */
export interface AllSources {
  sources: readonly DigestDeps[];
  /** Names of those that could not be read here. */
  missing: readonly string[];
  /** The overview of all sources; null where the settings do not say. */
  dashboard: string | null;
  close(): Promise<void>;
}

const LISTED = 5;

const NEW_POSTS = `
  SELECT p.id, p.votes_count AS votes FROM posts p WHERE p.created >= $since AND p.created < $until AND p.deleted_at IS NULL
     AND ($board IS NULL OR p.board_id = $board) ORDER BY p.votes_count DESC, p.id DESC`;

/** The digest of a period: what is new, what climbs, what was shipped, what waits for an answer. */
export async function digestOf(deps: DigestDeps, rule: Rule, since: number, until: number): Promise<Letter> {
  const sections: Section[] = [];
  for (const board of rule.boards ?? [null]) {
    const found = await findingsOf(deps, rule, { board, since, until });
    sections.push(...sectionsOf(found, board === null ? '' : ` on ${board}`));
  }
  const subject = `Feedback of ${periodText(rule, since, until)}`;
  return letterWith(sections, { subject, remark: '', link: deps.dashboard });
}

/** The same over all sources. Each item begins with the name of the source. */
export async function digestOfAll(
  all: AllSources,
  rule: Rule,
  since: number,
  until: number,
): Promise<Letter> {
  const found: Findings[] = [];
  for (const deps of all.sources) found.push(await findingsOf(deps, rule, { board: null, since, until }));
  const together = LISTS.map((list) => [list, found.flatMap((one) => one[list])] as const);
  const sections = sectionsOf(Object.fromEntries(together) as unknown as Findings, '');
  const subject = `Feedback of all sources of ${periodText(rule, since, until)}`;
  const remark = all.missing.length === 0 ? '' : `Not in this message: ${all.missing.join(', ')}.`;
  return letterWith(sections, { subject, remark, link: all.dashboard });
}

function letterWith(
  sections: readonly Section[],
  { subject, remark, link }: { subject: string; remark: string; link: string | null },
): Letter {
  const full = sections.filter(({ lines }) => lines.length > 0);
  const empty = full.length === 0 ? 'Nothing happened in this period.' : '';
  const intro = [empty, remark].filter((text) => text !== '').join(' ');
  return { subject, intro, sections: full, link, isRepeated: false };
}

function periodText({ zone }: Rule, since: number, until: number): string {
  const days = Math.max(1, Math.round((until - since) / 86_400_000));
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(until);
  return `the last ${counted(days, 'day')}, ${day}`;
}

interface Part {
  board: string | null;
  since: number;
  until: number;
}

const LISTS = ['fresh', 'climbing', 'shipped', 'waiting'] as const;

/** A post that a digest may name. Those of greater weight come first. */
type Found = PostOf & { weight: number };
type Findings = Record<(typeof LISTS)[number], readonly Found[]>;

async function findingsOf(deps: DigestDeps, rule: Rule, { board, since, until }: Part): Promise<Findings> {
  const { reader, usualDelivered, db } = deps;
  const ask = async (name: string, request: Partial<ReportRequest>) =>
    (
      await runReport(reader, name, {
        now: until,
        timeZone: rule.zone,
        usualDelivered,
        ...(board !== null && { board }),
        ...request,
      })
    ).rows;
  const period = { since: iso(since), until: iso(until) };
  const boardId = board === null ? null : (await reader.board(board)).id;
  const fresh = db
    .prepare<object, { id: number; votes: number }>(NEW_POSTS)
    .all({ ...period, board: boardId });
  const climbing = await ask('gaining-posts', { ...period, limit: LISTED });
  const delivered = statusSets(await reader.statuses(), { usualDelivered }).delivered.map(({ id }) => id);
  const all = { now: until, since, until, board: boardId, statuses: [], delivered };
  const shipped = await deliveredIn(reader, all);
  const waiting = await ask('unanswered', { limit: LISTED });
  const found = (id: unknown, weight: unknown, text = ''): Found => ({
    writing: deps,
    id: Number(id),
    text,
    weight: Number(weight),
  });
  return {
    fresh: fresh.map(({ id, votes }) => found(id, votes)),
    climbing: climbing
      .filter(({ gained }) => Number(gained) > 0)
      .map(({ post, gained }) => found(post, gained, `+${String(gained)}`)),
    shipped: [...shipped].map(([id, at]) => found(id, -Date.parse(at))),
    waiting: waiting.map(({ post, votes, waiting: seconds }) =>
      found(post, votes, `for ${counted(Math.floor(Number(seconds) / 86_400), 'day')}`),
    ),
  };
}

function sectionsOf({ fresh, climbing, shipped, waiting }: Findings, on: string): Section[] {
  const best = (found: readonly Found[]): Found[] =>
    found.toSorted((a, b) => b.weight - a.weight).slice(0, LISTED);
  const more = (found: readonly Found[]): number => Math.max(0, found.length - LISTED);
  return [
    postSection(`New${on}: ${counted(fresh.length, 'post')}`, best(fresh), more(fresh)),
    postSection(`Most votes gained${on}`, best(climbing)),
    postSection(`Shipped${on}`, best(shipped), more(shipped)),
    postSection(`Waiting for an answer${on}`, best(waiting)),
  ];
}
