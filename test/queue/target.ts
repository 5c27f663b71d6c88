import { createLogger } from '../../src/base/log.ts';
import { Secret } from '../../src/base/secret.ts';
import { openQueueBackend, type QueueBackend } from '../../src/queue/backend.ts';

/** What a process needs to open the queues of a mirror: plain data, so that a child can be told. */
export interface Target {
  url: string | null;
  dataDir: string;
  mirrorId: string;
}

/** As the service opens it, with the log as lines. */
export function openTarget(
  { url, dataDir, mirrorId }: Target,
  lines: { push(line: string): unknown } = [],
): Promise<QueueBackend> {
  const destination = { write: (line: string) => void lines.push(line) };
  return openQueueBackend({
    url: url === null ? null : new Secret(url),
    dataDir,
    mirrorId,
    log: createLogger({ level: 'info', format: 'json', secrets: () => [], destination }),
  });
}
