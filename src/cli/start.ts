import type { Command } from 'commander';
import { type Context, openContext } from './context.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('start')
    .description('the service: keeps the mirror fresh and sends what is in the outbox, until it is stopped')
    .addHelpText(
      'after',
      '\nExamples:\n  feedback-mirror start\n  feedback-mirror start --sync-head-every 30s --log-level debug',
    )
    .action(() => start(openContext(program, stop)));
}

async function start({ settings, input, signal, say }: Context): Promise<void> {
  const [{ openApp, sendingContext }, { work }] = await Promise.all([
    import('../app.ts'),
    import('../worker.ts'),
  ]);
  const app = await openApp(settings, input, 'start', { isService: true });
  try {
    const { headEvery, sweepEvery, pagesAhead, pushPerMinute, mirrorPath, baseUrl } = settings;
    say(
      `Mirroring ${baseUrl?.host ?? 'the built-in sandbox, which is alive with sample feedback,'} into ${mirrorPath}.`,
    );
    say('Stop with Ctrl-C. In another terminal: npx feedback-mirror status');
    await work(
      app,
      { headEvery, sweepEvery, pagesAhead, pushPerMinute, outbox: sendingContext(app, signal) },
      signal,
    );
  } finally {
    await app.close();
  }
}
