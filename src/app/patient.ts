import { join } from 'node:path';
import { type LoadInput, type Settings, secretsOf } from '../../config/load.ts';
import { createLogger } from '../base/log.ts';
import type { Patient } from '../doctor/examine.ts';
import { mirrorOf, quietLevel } from './place.ts';
import { openClient, realToken } from './upstream.ts';

/** Everything a doctor looks at; nothing is opened before it is looked at, and nothing is made. */
export function patientOf(settings: Settings, input: LoadInput): Patient {
  const { dataDir, baseUrl, queueUrl, httpHost: host, httpPort: port, httpToken } = settings;
  const firstPage = async (signal: AbortSignal) => {
    const retry = { attempts: 1, patienceMs: 0 };
    const client = openClient(settings, {
      url: baseUrl?.href ?? '',
      token: realToken(settings, input),
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
      : { kind: 'embedded', lock: join(dataDir, 'queue.lock') },
    service: { host, port, token: httpToken },
  };
}

async function tryQueue(settings: Settings): Promise<void> {
  const { openQueueBackend } = await import('../queue/backend.ts');
  const level = quietLevel(settings);
  const log = createLogger({ level, format: settings.logFormat, secrets: () => secretsOf(settings) });
  const folder = join(settings.dataDir, 'queue');
  const takeNone = () => ({ ok: false as const, holder: 'nobody' });
  const url = settings.queueUrl;
  const backend = await openQueueBackend({ url, folder, mirrorId: 'doctor', log, takeLock: takeNone });
  try {
    await backend.ping(5000);
  } finally {
    await backend.close();
  }
}
