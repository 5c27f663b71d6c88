import { mirrorOf } from '../app/place.ts';
import { type ChangeFeed, openChangeFeed } from '../changes/feed.ts';
import { type ChangeReads, feedTogether } from '../changes/together.ts';
import type { RunningSource } from './running.ts';
import type { SourceSet } from './set.ts';

/** The change feed over all sources that are open. Each is opened with the first question, and again where its source began anew. */
export function feedOfAll(set: SourceSet): { feed: ChangeReads; close(): void } {
  const opened = new Map<RunningSource, ChangeFeed>();
  const feeds = (): ReadonlyMap<string, ChangeReads> => {
    const all = set.all();
    for (const [source, feed] of opened) {
      if (all.includes(source)) continue;
      feed.close();
      opened.delete(source);
    }
    const found = new Map<string, ChangeReads>();
    for (const source of all) {
      const app = source.app();
      if (!app) continue;
      const feed = opened.get(source) ?? openChangeFeed(mirrorOf(app.settings), app.settings.source);
      opened.set(source, feed);
      found.set(source.plan.name, feed);
    }
    return found;
  };
  return {
    feed: feedTogether(feeds),
    close() {
      for (const feed of opened.values()) feed.close();
      opened.clear();
    },
  };
}
