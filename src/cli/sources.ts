import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Sources } from '../../config/sources.ts';
import { mirrorOf } from '../app/place.ts';
import { pastOrNull } from '../base/clock.ts';
import { AppError, codeOf, messageOf } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { counted, durationText } from '../text/text.ts';
import {
  type Context,
  type Flags,
  machinesElsewhere,
  openContext,
  openContexts,
  openSources,
  worstExit,
} from './context.ts';
import { announced, askService } from './service.ts';
import { table } from './table.ts';

export function register(program: Command, stop: AbortSignal): void {
  const sources = program
    .command('sources')
    .description('several feedback services in one program, as sources.yaml names them')
    .addHelpText('after', HELP);
  sources
    .command('list', { isDefault: true })
    .description('each source in a line: state, lag, rows and trouble')
    .addHelpText('after', '\nExample:\n  feedback-mirror sources list --json')
    .action(async () => list(needed(program), openContexts(program, stop)));
  sources
    .command('test')
    .argument('[name]', 'one of them; all where it is left out')
    .description('ask each service for one page, with its token')
    .addHelpText('after', '\nExample:\n  feedback-mirror sources test acme')
    .action(async (name?: string) => {
      needed(program);
      if (name !== undefined) program.setOptionValue('source', name);
      await test(openContexts(program, stop));
    });
  sources
    .command('adopt')
    .argument('<name>', 'the source of sources.yaml that the data is for')
    .option('--from <folder>', 'folder of the mirror so far; DATA_DIR unless given')
    .description('make the mirror that was the only one that of a source')
    .addHelpText('after', '\nExample:\n  feedback-mirror sources adopt acme --from /srv/feedback/data')
    .action(async (name: string, flags: Flags<'from'>) => {
      const all = needed(program);
      program.setOptionValue('source', name);
      await adopt(openContext(program, stop), all, flags);
    });
}

const HELP = `
sources.yaml stands in the working folder, or where SOURCES_FILE says:

  sources:
    acme:
      base_url: https://feedback.acme.example
      token_file: secrets/acme
    beta:
      base_url: https://feedback.beta.example
      token_file: secrets/beta

Examples:
  feedback-mirror sources
  feedback-mirror sources test
  feedback-mirror sources adopt acme
  feedback-mirror status --source acme`;

function needed(program: Command): Sources {
  const sources = openSources(program);
  if (sources) return sources;
  throw new AppError('usage', 'there is no sources.yaml here, so there is one source without a name', {
    hint: 'Write sources.yaml into this folder, or set SOURCES_FILE to its path: see feedback-mirror sources --help.',
  });
}

interface Line {
  name: string;
  host: string;
  /** `trouble`: the service runs, and a person has to see to something. */
  state: 'ready' | 'trouble' | 'not ready' | 'not running' | 'not on this machine' | 'unreadable';
  /** Of the fleet, where another machine runs the source and is known. */
  machine?: string;
  /** Since the last complete pass over the posts; null where there was none. */
  lagSeconds: number | null;
  /** Null where this machine has no mirror of the source. */
  posts: number | null;
  comments: number | null;
  trouble: string[];
  code: number;
}

async function list({ path }: Sources, contexts: Context[]): Promise<void> {
  const machines = await machinesElsewhere(contexts);
  const found = await Promise.all(
    contexts.map(async (context) => await lineOf(context, machines.get(context) ?? null)),
  );
  const [context] = contexts;
  context?.answer({ file: path, sources: found.map(({ code: _, ...line }) => line) }, () =>
    table(
      ['source', 'service', 'state', 'lag', 'posts', 'comments', 'trouble'],
      found.map((line) => [
        line.name,
        line.host,
        line.machine === undefined ? line.state : `on ${line.machine}`,
        lagText(line),
        line.posts ?? '',
        line.comments ?? '',
        line.trouble.join('; '),
      ]),
    ),
  );
  process.exitCode = worstExit(found.map(({ code }) => code));
}

function lagText({ lagSeconds, machine }: Line): string {
  if (lagSeconds !== null) return durationText(lagSeconds * 1000);
  return machine === undefined ? 'never read' : '';
}

async function lineOf({ settings }: Context, machine: string | null): Promise<Line> {
  const { readMirrorStatus } = await import('../mirror/store/store.ts');
  const url = announced(settings.dataDir);
  const service = url === null ? null : await askService(url, settings.httpToken);
  const name = settings.source ?? '';
  const host = settings.baseUrl?.host ?? '';
  const said = service?.checks.filter(({ ok, warning }) => !ok || warning).map(({ detail }) => detail);
  const absent = settings.fleetUrl === null ? 'not running' : 'not on this machine';
  const running = service?.ready ? (said?.length ? 'trouble' : 'ready') : 'not ready';
  const state = service === null ? absent : running;
  const place = { name, host, ...(machine !== null && { machine }) };
  try {
    const { resources, troubles } = isThere(settings.mirrorPath)
      ? readMirrorStatus(mirrorOf(settings))
      : { resources: [], troubles: [] };
    const [posts, comments] = (['posts', 'comments'] as const).map((list) =>
      resources.find(({ resource }) => resource === list),
    );
    const passes = [posts?.lastSweepAt ?? null, posts?.lastHeadAt ?? null].flatMap((at) => at ?? []);
    const last = pastOrNull(Math.max(...passes.map((at) => Date.parse(at)), 0) || null, Date.now());
    const lagSeconds = last === null ? null : Math.round((Date.now() - last) / 1000);
    return {
      ...place,
      state,
      lagSeconds,
      posts: posts?.live ?? null,
      comments: comments?.live ?? null,
      trouble: said ?? troubles.map(({ what }) => what),
      code: 0,
    };
  } catch (error) {
    const nothing = { lagSeconds: null, posts: null, comments: null };
    return {
      ...place,
      state: 'unreadable',
      ...nothing,
      trouble: [messageOf(error), ...(said ?? [])],
      code: worstExit([error]),
    };
  }
}

async function test(contexts: Context[]): Promise<void> {
  const { doctorInput } = await import('../app/doctor-input.ts');
  const found = await Promise.all(
    contexts.map(async ({ settings, input, signal }) => {
      const [name, began] = [settings.source ?? '', performance.now()];
      try {
        const page = await doctorInput(settings, input).upstream?.firstPage(signal);
        const ms = Math.round(performance.now() - began);
        return {
          name,
          ok: true,
          detail: `answers within ${ms} ms, ${counted(page?.rows.length ?? 0, 'post')} on a page`,
          code: 0,
        };
      } catch (error) {
        return { name, ok: false, detail: messageOf(error), error: codeOf(error), code: worstExit([error]) };
      }
    }),
  );
  contexts[0]?.answer({ sources: found.map(({ code: _, ...one }) => one) }, () =>
    table(
      ['source', 'token', 'answer'],
      found.map(({ name, ok, detail }) => [name, ok ? 'ok' : 'FAIL', detail]),
    ),
  );
  process.exitCode = worstExit(found.map(({ code }) => code));
}

async function adopt(context: Context, { shared, all }: Sources, { from }: Flags<'from'>): Promise<void> {
  const { adoptFolder } = await import('../app/adopt.ts');
  const folder = from === undefined ? shared.dataDir : resolve(context.input.cwd, from);
  const names = from === undefined ? all.map(({ name }) => name) : [];
  const done = adoptFolder(context.settings, folder, names);
  context.answer(
    done,
    () =>
      `${counted(done.moved.length, 'file or folder', 'files and folders')} of ${done.from} moved to ${done.to}. The source ${context.settings.source} continues from there.`,
  );
}
