import assert from 'node:assert/strict';
import type { Running, Site } from '../support/mirror-site.ts';

export function hasSwept(service: Running): boolean {
  return ['posts', 'comments'].every((list) =>
    service.said().includes(`"event":"sync.sweep.completed","resource":"${list}"`),
  );
}

export function isUp(service: Running): boolean {
  return service.said().includes('Dashboard: http://127.0.0.1:');
}

export async function ended(service: Running) {
  service.child.kill('SIGTERM');
  const result = await service.end;
  assert.equal(result.code, 0, result.stderr);
  return result;
}

/** Tells it to stop as systemd does. It has ended everything in order before its own limit ends it, which is within ten seconds. */
export async function stop(service: Running): Promise<void> {
  const { stderr } = await ended(service);
  assert.match(stderr, /the service has stopped/);
}

export async function states(site: Site): Promise<Set<string>> {
  const { stdout } = await site.run(['outbox', '--json']);
  const { rows } = JSON.parse(stdout) as { rows: { title: string; state: string }[] };
  return new Set(rows.map(({ title, state }) => `${title} ${state}`));
}
