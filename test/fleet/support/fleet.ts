import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Sandbox, startSandbox } from '../../laboratory/server.ts';
import { folderFor } from '../../support/folder.ts';
import { startPostgres } from '../../support/servers.ts';
import { LONG_RUN_MS, until } from '../../support/until.ts';
import { type TestMachine, testMachine } from './machine.ts';

const FIELDS = { push_per_minute: 600, push_settle: '1s', head_every: '1s', sweep_every: '5s' };

export async function fleetOf(
  t: TestContext,
  names: readonly string[],
  sources: readonly string[],
  fields: Partial<Record<keyof typeof FIELDS, string | number>> = {},
) {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const sandboxes = new Map<string, Sandbox>();
  for (const source of sources) {
    const token = { token: 'sandbox', email: 'owner@example.com', name: 'Owner' };
    const sandbox = await startSandbox({ posts: 20, tokens: [token] });
    t.after(() => sandbox.close());
    sandboxes.set(source, sandbox);
  }
  const folder = folderFor(t, 'fleet');
  const urls = new Map([...sandboxes].map(([source, { url }]) => [source, url]));
  const given = Object.entries({ ...FIELDS, ...fields });
  const lines = given.map(([name, value]) => `    ${name}: ${value}\n`).join('');
  const machines = new Map<string, TestMachine>();
  for (const name of names) {
    const place = { name, folder: join(folder, name), port: postgres.port };
    const machine = await testMachine({ ...place, sources: urls, lines });
    t.after(() => machine.close());
    machines.set(name, machine);
  }
  const machine = (name: string): TestMachine => machines.get(name) as TestMachine;
  return { postgres, sandboxes, machine };
}

export async function runs(machine: TestMachine, sources: readonly string[]): Promise<void> {
  const isSame = async (): Promise<boolean> => {
    const ready = await machine.ready();
    return ready.length === sources.length && sources.every((source) => ready.includes(source));
  };
  await until(`${machine.name} runs ${sources.join()}`, isSame, LONG_RUN_MS);
}

export async function create(machine: TestMachine, source: string, title: string): Promise<void> {
  const made = await machine.run(['create', '--source', source, '--board', '1', '--title', title]);
  assert.equal(made.code, 0, made.stderr);
}

export function posted(sandbox: Sandbox | undefined, title: string): number {
  return (sandbox?.world.ledger() ?? []).filter((entry) => entry.title === title).length;
}
