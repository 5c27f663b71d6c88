import type { HttpPart } from '../server.ts';
import { type AskDeps, addAsk } from './ask.ts';
import { addAssets } from './assets.ts';
import { addEvents, type EventOptions } from './events.ts';
import { addImports, type ImportDeps } from './imports.ts';
import { addOutbox, type OutboxDeps } from './outbox.ts';
import { addOverview, type OverviewDeps } from './overview.ts';
import { addPosts, type PostsDeps } from './posts.ts';
import { addSync, type SyncDeps } from './sync.ts';

/** What each page is given; where two need the same thing they call it the same. */
export interface DashboardDeps {
  /** Whether people sign in, and so can sign out. */
  hasLogin: boolean;
  events: EventOptions;
  ask: AskDeps;
  outbox: OutboxDeps;
  imports: ImportDeps;
  sync: SyncDeps;
  overview: OverviewDeps;
  posts: PostsDeps;
}

const PAGES = ['/', '/posts', '/posts/:id', '/outbox', '/outbox/import', '/outbox/:id', '/sync', '/ask'];

/** The dashboard: one document for all pages, the files it loads, the data they show, and the stream of live numbers. */
export function dashboard(deps: DashboardDeps): HttpPart {
  return async (app) => {
    addAssets(app, { pages: PAGES, hasLogin: deps.hasLogin });
    addEvents(app, deps.events);
    addAsk(app, deps.ask);
    addOutbox(app, deps.outbox);
    await addImports(app, deps.imports);
    addSync(app, deps.sync);
    addOverview(app, deps.overview);
    addPosts(app, deps.posts);
  };
}
