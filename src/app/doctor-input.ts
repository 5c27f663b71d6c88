import { type LoadInput, type Settings, secretsOf } from '../../config/load.ts';
import { createLogger } from '../base/log.ts';
import type { DoctorInput } from '../doctor/examine.ts';
import { mirrorOf, quietLevel } from './place.ts';
import { openClient, realToken } from './upstream.ts';

/** Everything the doctor examines; nothing is opened before it is examined, and nothing is made. */
export function doctorInput(settings: Settings, input: LoadInput): DoctorInput {
  const { dataDir, baseUrl, queueUrl, publishUrl, httpHost: host, httpPort: port, httpToken } = settings;
  const firstPage = async (signal: AbortSignal) => {
    const retry = { attempts: 1, maxWaitMs: 0 };
    const client = openClient(settings, {
      url: baseUrl?.href ?? '',
      token: realToken(settings, input),
      env: input.env,
      retry,
    });
    try {
      return await client.page('posts', '', signal);
    } finally {
      await client.close();
    }
  };
  return {
    dataDir,
    mirror: mirrorOf(settings),
    upstream: baseUrl && { host: baseUrl.host, firstPage },
    queue: queueUrl
      ? { kind: 'server', tryIt: () => tryQueue(settings) }
      : {
          kind: 'embedded',
          countJobs: async () => (await import('../queue/embedded.ts')).countJobs(dataDir),
        },
    checkRules: async () => (await import('./rules.ts')).checkRules(settings, input),
    copy: publishUrl && { look: async () => (await import('./publish.ts')).lookAtCopy(settings, publishUrl) },
    service: {
      host,
      port,
      token: httpToken,
      isUpstreamToken: httpToken?.reveal() === settings.token?.reveal(),
    },
  };
}

async function tryQueue(settings: Settings): Promise<void> {
  const { openQueueBackend } = await import('../queue/backend.ts');
  const level = quietLevel(settings);
  const log = createLogger({ level, format: settings.logFormat, secrets: () => secretsOf(settings) });
  const { queueUrl: url, dataDir } = settings;
  const backend = await openQueueBackend({ url, dataDir, mirrorId: 'doctor', log });
  try {
    await backend.ping(5000);
  } finally {
    await backend.close();
  }
}
