import type { ReportReader } from '../store/reports.ts';

export interface MovementRequest {
  /** From when on votes count for the period; for the one before it, or null where that was not watched. */
  from: string;
  before: string | null;
  until: string;
  board: number | null;
}

/** How the votes of live posts moved, as the mirror saw it. */
export interface Movement {
  recent: number;
  prior: number | null;
  /** Votes gained in the period, by the day on which they were seen. */
  days: Map<string, number>;
  posts: PostMovement[];
}

export interface PostMovement {
  id: number;
  created: string;
  /** At the end of the period. */
  votes: number;
  gained: number;
}

/** Versions read at a time: a thread that works on them can be stopped in between. */
const CHUNK = 20_000;
/** So many versions in a row from before the period end the walk; a clock that was set back does not. */
const OLD_IN_A_ROW = 1000;

const CHANGED = `
  SELECT id, votes_count, version_at, created, deleted_at FROM posts
   WHERE version_at > $from AND ($board IS NULL OR board_id = $board)`;
const VERSIONS = `
  SELECT n, post_id, votes_count, observed_at FROM post_versions WHERE n < $n ORDER BY n DESC LIMIT ${CHUNK}`;

/**
 * One walk back through the history, from what posts have now: versions stand in the order in which they were superseded, so the walk
 * ends where the period begins. The reports overview, votes and climbers ask the same with a look-up for every step, and take four
 * times as long together in a mirror of a million posts.
 */
export async function readMovement(reader: ReportReader, request: MovementRequest): Promise<Movement> {
  const tally = createTally(request);
  const start = request.before ?? request.from;
  for (const row of await reader.tuples(CHANGED, { from: start, board: request.board }))
    tally.begin(row as unknown as Changed);
  for (let [n, old] = [Number.MAX_SAFE_INTEGER, 0]; old < OLD_IN_A_ROW; ) {
    const versions = await reader.tuples(VERSIONS, { n });
    for (const version of versions) old = tally.step(version as unknown as Version) ? 0 : old + 1;
    if (versions.length < CHUNK) break;
    n = Number(versions.at(-1)?.[0]);
  }
  return tally.end();
}

type Changed = readonly [id: number, votes: number, at: string, created: string, deleted: string | null];
type Version = readonly [n: number, post: number, votes: number, at: string];

interface Track {
  created: string;
  isLive: boolean;
  /** The state reached on the way back, and since when it was there. */
  votes: number;
  at: string;
  /** At the end of the period; null as long as the walk is later than that. */
  atEnd: number | null;
  gained: number;
}

function createTally({ from, before, until }: MovementRequest) {
  const tracks = new Map<number, Track>();
  const days = new Map<string, number>();
  let [recent, prior] = [0, 0];

  /** The votes that a post got when the state reached on the way back began. */
  const count = (track: Track, gain: number, isRecent: boolean): void => {
    if (!track.isLive || track.at > until) return;
    if (!isRecent) {
      prior += gain;
      return;
    }
    recent += gain;
    track.gained += gain;
    const day = track.at.slice(0, 10);
    days.set(day, (days.get(day) ?? 0) + gain);
  };

  return {
    begin(row: Changed): void {
      const [votes, at] = [row[1], row[2]];
      const atEnd = at <= until ? votes : null;
      tracks.set(row[0], { created: row[3], isLive: row[4] === null, votes, at, atEnd, gained: 0 });
    },
    /** False where what it tells is from before. */
    step(version: Version): boolean {
      const track = tracks.get(version[1]);
      const [votes, at] = [version[2], version[3]];
      if (!track || track.at <= (before ?? from)) return false;
      count(track, track.votes - votes, track.at > from);
      track.votes = votes;
      track.at = at;
      if (track.atEnd === null && at <= until) track.atEnd = votes;
      return true;
    },
    end(): Movement {
      // Posts that were made within a period began it with none.
      for (const track of tracks.values())
        if (track.created >= from) count(track, track.votes, true);
        else if (before !== null && track.created >= before) count(track, track.votes, false);
      const posts: PostMovement[] = [];
      for (const [id, { isLive, atEnd, gained, created }] of tracks)
        if (isLive && atEnd !== null && gained > 0) posts.push({ id, created, votes: atEnd, gained });
      return { recent, prior: before === null ? null : prior, days, posts };
    },
  };
}
