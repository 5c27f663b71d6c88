import { AppError } from '../base/errors.ts';
import type { Change } from './change.ts';
import type { ChangePage, ChangeQuery, FeedHead } from './feed.ts';

/** What consumers of one feed or of several read. */
export interface ChangeReads {
  version(): number;
  head(): FeedHead;
  resolve(since: string): string;
  after(since: string, query: ChangeQuery): ChangePage;
}

/** By the names of the sources. */
type Positions = ReadonlyMap<string, string>;

/**
 * The feeds of several sources as one. Within a source the changes come by their numbers, and those of different sources by their times.
 * A position is that of each source, as `acme=1042-m4k2x9a0,beta=77-m4k2z1b3`. A source that is not in it begins with its oldest change; one
 * that is not there now keeps its place.
 */
export function feedTogether(feeds: () => ReadonlyMap<string, ChangeReads>): ChangeReads {
  let [version, known] = [0, ''];
  const each = (since: string, positions: Positions, name: string): string =>
    since === 'now' ? 'now' : (positions.get(name) ?? '');
  return {
    version() {
      const now = JSON.stringify([...feeds()].map(([name, feed]) => [name, feed.version()]));
      if (now !== known) version++;
      known = now;
      return version;
    },
    head(): FeedHead {
      const heads = [...feeds()].map(([name, feed]) => [name, feed.head()] as const);
      const mirrors = new Map(heads.map(([name, { mirror }]) => [name, mirror]));
      const positions = new Map(heads.map(([name, { position }]) => [name, position]));
      const notMirrored = [...new Set(heads.flatMap(([, head]) => head.notMirrored))];
      return { mirror: textOf(mirrors), position: textOf(positions), oldest: null, notMirrored };
    },
    resolve(since) {
      const given = positionsIn(since);
      const now = [...feeds()].map(([name, feed]) => [name, feed.resolve(each(since, given, name))] as const);
      return textOf(new Map([...given, ...now]));
    },
    after(since, query) {
      const given = positionsIn(since);
      const pages = [...feeds()].map(([name, feed]) => ({
        name,
        page: feed.after(each(since, given, name), query),
      }));
      return merged(given, pages, query.limit);
    },
  };
}

interface SourcePage {
  name: string;
  page: ChangePage;
}

function merged(given: Positions, pages: readonly SourcePage[], limit: number): ChangePage {
  const at = new Map(given);
  const waiting = new Map(pages.map(({ name, page }) => [name, [...page.changes]]));
  const changes: Change[] = [];
  while (changes.length < limit) {
    const [name, queue] = oldestOf(waiting);
    const change = queue?.shift();
    if (name === null || !change) break;
    at.set(name, change.position);
    changes.push({ ...change, position: textOf(at) });
  }
  const isRead = ({ name }: SourcePage): boolean => waiting.get(name)?.length === 0;
  for (const source of pages) if (isRead(source)) at.set(source.name, source.page.next);
  return {
    changes,
    next: textOf(at),
    isLast: pages.every((source) => isRead(source) && source.page.isLast),
  };
}

function oldestOf(waiting: ReadonlyMap<string, Change[]>): [name: string, queue: Change[]] | [null] {
  const [first] = [...waiting]
    .filter(([, queue]) => queue.length > 0)
    .sort(([, [a]], [, [b]]) => (a?.time ?? '').localeCompare(b?.time ?? ''));
  return first ?? [null];
}

const ONE = /^([a-z0-9-]{1,40})=(\S+)$/;

function positionsIn(since: string): Positions {
  if (since === '' || since === 'now') return new Map();
  const parts = since.split(',').map((part) => ONE.exec(part));
  if (parts.includes(null))
    throw new AppError('usage', `"${since}" is no position over several sources`, {
      hint: 'It looks like acme=1042-m4k2x9a0,beta=77-m4k2z1b3: take it from "position" of a change, or say "now".',
    });
  return new Map(parts.map((part) => [part?.[1] ?? '', part?.[2] ?? '']));
}

function textOf(positions: Positions): string {
  return [...positions]
    .filter(([, position]) => position !== '')
    .map(([name, position]) => `${name}=${position}`)
    .join(',');
}
