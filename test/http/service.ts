import type { TestContext } from 'node:test';
import { createLogger } from '../../src/base/log.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import { Secret } from '../../src/base/secret.ts';
import { type HttpOptions, type HttpServer, startHttp } from '../../src/http/server/server.ts';
import type { HttpPart } from '../../src/http/server/site.ts';
import { progressWith } from '../service/healthy.ts';

export const TOKEN = 'canary-of-the-local-side';

export interface Running extends HttpServer {
  port: number;
  /** What it has logged, line by line. */
  lines: Record<string, unknown>[];
}

export interface Wishes extends Partial<Omit<HttpOptions, 'token' | 'parts'>> {
  token?: string;
  parts?: readonly HttpPart[];
}

/** The HTTP side alone, healthy and on a free port unless the test wants it otherwise; closed when the test ends. */
export async function open(t: TestContext, { token, parts = [], ...wishes }: Wishes = {}): Promise<Running> {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    token: token === undefined ? null : new Secret(token),
    log: createLogger({ level: 'debug', format: 'json', secrets: () => [], destination }),
    metrics: createMetrics(),
    progress: async () => progressWith(),
    parts,
    ...wishes,
  });
  t.after(() => server.close());
  return { ...server, port: Number(new URL(server.url).port), lines };
}
