import type { ReportReader } from '../store/reports.ts';
import { type Bucket, bucketAt } from './moment.ts';

export interface MovementRequest {
  /** From when on votes count for the period; for the one before it, or null where that was not watched. */
  from: string;
  before: string | null;
  until: string;
  board: number | null;
  /** The days or weeks that votes are counted by. */
  buckets: readonly Bucket[];
}

/**
 * How the votes of live posts moved, as the mirror saw it. With a board, a vote counts where its post was on that board when it was
 * seen: a post that moves takes none of its past along.
 */
export interface Movement {
  recent: number;
  prior: number | null;
  /** Votes gained in the period, by the bucket in which they were seen. */
  gained: number[];
  /** Posts that are on the board now. */
  posts: PostMovement[];
}

export interface PostMovement {
  id: number;
  created: string;
  /** At the end of the period. */
  votes: number;
  /** In the period, on whichever board. */
  gained: number;
}

/** Versions read at a time: a thread that works on them can be stopped in between. */
const CHUNK = 20_000;
/** So many versions in a row from before the period end the walk; a clock that was set back does not. */
const OLD_IN_A_ROW = 1000;

/** All of them, counted or not: the walk knows by them which versions are recent. */
const CHANGED = `
  SELECT id, votes_count, version_at, created, board_id, deleted_at IS NULL AND created < $until FROM posts
   WHERE version_at > $from`;
const VERSIONS = `
  SELECT n, post_id, votes_count, observed_at, board_id FROM post_versions WHERE n < $n ORDER BY n DESC LIMIT ${CHUNK}`;

/**
 * One walk back through the history, from what posts have now: versions stand in the order in which they were superseded, so the walk
 * ends where the period begins. The reports votes and climbers ask the same with a look-up for every step, which takes longer.
 */
export async function readMovement(reader: ReportReader, request: MovementRequest): Promise<Movement> {
  const tally = createTally(request);
  const start = request.before ?? request.from;
  for (const row of await reader.tuples(CHANGED, { from: start, until: request.until }))
    tally.begin(row as unknown as Changed);
  for (let [n, old] = [Number.MAX_SAFE_INTEGER, 0]; old < OLD_IN_A_ROW; ) {
    const versions = await reader.tuples(VERSIONS, { n });
    for (const version of versions) old = tally.step(version as unknown as Version) ? 0 : old + 1;
    if (versions.length < CHUNK) break;
    n = Number(versions.at(-1)?.[0]);
  }
  return tally.end();
}

type Changed = readonly [
  id: number,
  votes: number,
  at: string,
  created: string,
  board: number,
  counts: number,
];
type Version = readonly [n: number, post: number, votes: number, at: string, board: number];

interface Track {
  created: string;
  /** Whether it is there at all, and not dated after the period. */
  isCounted: boolean;
  /** Whether it is on the board now. */
  isHere: boolean;
  /** The state reached on the way back, and since when it was there. */
  votes: number;
  at: string;
  board: number;
  /** At the end of the period; null as long as the walk is later than that. */
  atEnd: number | null;
  gained: number;
}

function createTally({ from, before, until, board: wanted, buckets }: MovementRequest) {
  const tracks = new Map<number, Track>();
  const gained = buckets.map(() => 0);
  const isWanted = (board: number): boolean => wanted === null || board === wanted;
  let [recent, prior] = [0, 0];

  /** The votes that a post got when the state reached on the way back began. */
  const count = (track: Track, gain: number, isRecent: boolean): void => {
    if (!track.isCounted || track.at > until) return;
    if (isRecent) track.gained += gain;
    if (!isWanted(track.board)) return;
    if (!isRecent) {
      prior += gain;
      return;
    }
    recent += gain;
    const place = bucketAt(buckets, track.at);
    if (gained[place] !== undefined) gained[place] += gain;
  };

  return {
    begin(row: Changed): void {
      const [id, votes, at, created, board, counts] = row;
      const atEnd = at <= until ? votes : null;
      const [isCounted, isHere] = [counts === 1, isWanted(board)];
      tracks.set(id, { created, isCounted, isHere, votes, at, board, atEnd, gained: 0 });
    },
    /** False where what it tells is from before. */
    step(version: Version): boolean {
      const track = tracks.get(version[1]);
      const [votes, at] = [version[2], version[3]];
      if (!track || track.at <= (before ?? from)) return false;
      count(track, track.votes - votes, track.at > from);
      track.votes = votes;
      track.at = at;
      track.board = version[4];
      if (track.atEnd === null && at <= until) track.atEnd = votes;
      return true;
    },
    end(): Movement {
      // Posts that were made within a period began it with none.
      for (const track of tracks.values())
        if (track.created >= from) count(track, track.votes, true);
        else if (before !== null && track.created >= before) count(track, track.votes, false);
      const posts: PostMovement[] = [];
      for (const [id, { isCounted, isHere, atEnd, gained: own, created }] of tracks)
        if (isCounted && isHere && atEnd !== null && own > 0)
          posts.push({ id, created, votes: atEnd, gained: own });
      return { recent, prior: before === null ? null : prior, gained, posts };
    },
  };
}
