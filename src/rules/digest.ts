import { iso } from '../base/clock.ts';
import { scalar } from '../db/sql.ts';
import type { ReportRequest } from '../reports/report.ts';
import { runReport } from '../reports/run.ts';
import { deliveredIn } from '../reports/shipped.ts';
import { statusSets } from '../reports/status-sets.ts';
import type { ReportReader } from '../reports/store.ts';
import { counted } from '../text/text.ts';
import { type Letter, postSection, type Section, type Writing } from './letter.ts';
import type { Rule } from './rule.ts';

export interface DigestDeps extends Writing {
  reader: ReportReader;
  usualDelivered: readonly string[] | null;
}

const LISTED = 5;

const NEW_POSTS = `
  SELECT p.id FROM posts p WHERE p.created >= $since AND p.created < $until AND p.deleted_at IS NULL
     AND ($board IS NULL OR p.board_id = $board) ORDER BY p.votes_count DESC, p.id DESC`;

/** The digest of a period: what is new, what climbs, what was shipped, what waits for an answer. */
export async function digestOf(deps: DigestDeps, rule: Rule, since: number, until: number): Promise<Letter> {
  const boards = rule.boards ?? [null];
  const sections: Section[] = [];
  for (const board of boards) sections.push(...(await sectionsOf(deps, rule, { board, since, until })));
  const days = Math.max(1, Math.round((until - since) / 86_400_000));
  const day = dayIn(rule.zone, until);
  return {
    subject: `Feedback of the last ${counted(days, 'day')}, ${day}`,
    intro: sections.every(({ lines }) => lines.length === 0) ? 'Nothing happened in this period.' : '',
    sections: sections.filter(({ lines }) => lines.length > 0),
    link: deps.dashboard,
    isRepeated: false,
  };
}

function dayIn(zone: string, at: number): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(at);
}

interface Part {
  board: string | null;
  since: number;
  until: number;
}

async function sectionsOf(deps: DigestDeps, rule: Rule, { board, since, until }: Part): Promise<Section[]> {
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
  const on = board === null ? '' : ` on ${board}`;
  const boardId = board === null ? null : (await reader.board(board)).id;
  const fresh = scalar(db)<object, number>(NEW_POSTS).all({ ...period, board: boardId });
  const climbing = await ask('gaining-posts', { ...period, limit: LISTED });
  const delivered = statusSets(await reader.statuses(), { usualDelivered }).delivered.map(({ id }) => id);
  const all = { now: until, since, until, board: boardId, statuses: [], delivered };
  const shipped = [...(await deliveredIn(reader, all)).keys()];
  const waiting = await ask('unanswered', { limit: LISTED + 1 });
  const posts = (ids: readonly number[], text = '') => ids.slice(0, LISTED).map((id) => ({ id, text }));
  return [
    postSection(
      deps,
      `New${on}: ${counted(fresh.length, 'post')}`,
      posts(fresh),
      Math.max(0, fresh.length - LISTED),
    ),
    postSection(
      deps,
      `Most votes gained${on}`,
      climbing
        .filter(({ gained }) => Number(gained) > 0)
        .map(({ post, gained }) => ({ id: Number(post), text: `+${String(gained)}` })),
    ),
    postSection(deps, `Shipped${on}`, posts(shipped), Math.max(0, shipped.length - LISTED)),
    postSection(
      deps,
      `Waiting for an answer${on}`,
      waiting.slice(0, LISTED).map(({ post, waiting: seconds }) => ({
        id: Number(post),
        text: `for ${counted(Math.floor(Number(seconds) / 86_400), 'day')}`,
      })),
    ),
  ];
}
