import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createMetrics } from '../../src/base/metrics.ts';
import { CHECKOUT } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { requireProgram, skipUnless } from '../support/programs.ts';

const read = (file: string): string => readFileSync(join(CHECKOUT, 'deploy', file), 'utf8');

/** Names that a scrape shows, with the parts of histograms. */
async function exported(): Promise<Set<string>> {
  const text = await createMetrics().text();
  const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  const parts = ([, name = '', type]: RegExpMatchArray): string[] =>
    type === 'histogram' ? ['_bucket', '_count', '_sum'].map((part) => name + part) : [name];
  return new Set(names.flatMap(parts));
}

function named(text: string): string[] {
  return [...new Set(text.match(/\b(feedback_mirror|process|nodejs)_\w+/g))];
}

interface Panel {
  id: number;
  title: string;
  description: string;
  datasource: { uid: string };
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { expr: string }[];
}

describe('deploy/alerts.yml', () => {
  it('is accepted by the checker of Prometheus', skipUnless('promtool'), () => {
    const args = ['check', 'rules', '--lint-fatal', join(CHECKOUT, 'deploy/alerts.yml')];
    const { status, stdout, stderr } = spawnSync(requireProgram('promtool'), args, { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });

  it('asks only for metrics that the service exports', async () => {
    const known = await exported();
    const asked = named(read('alerts.yml'));
    assert.ok(asked.length >= 10);
    assert.deepEqual(
      asked.filter((name) => !known.has(name)),
      [],
    );
  });
});

describe('deploy/grafana.json', () => {
  const { panels, templating } = JSON.parse(read('grafana.json')) as {
    panels: Panel[];
    templating: { list: { name: string; query: string }[] };
  };

  it('asks only for metrics that the service exports', async () => {
    const known = await exported();
    const queries = [...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))];
    const asked = named([...queries, ...templating.list.map(({ query }) => query)].join('\n'));
    assert.ok(asked.length >= 10);
    assert.deepEqual(
      asked.filter((name) => !known.has(name)),
      [],
    );
  });

  it('has panels with an id, a place and a sentence each, on the data source that is chosen', () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    for (const { title, description, datasource, gridPos } of panels) {
      assert.match(description, /\.$/, title);
      assert.equal(datasource.uid, `$\{datasource}`);
      assert.ok(gridPos.x + gridPos.w <= 24, title);
    }
    const places = panels.map(({ gridPos: { x, y } }) => `${x}/${y}`);
    assert.equal(new Set(places).size, places.length);
  });

  it('asks in a language that Prometheus takes', skipUnless('promtool'), (t) => {
    const asked = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const rules = asked.map((expr, n) => ({ record: `panel:${n}`, expr }));
    const file = join(folderFor(t, 'rules'), 'rules.yml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    const args = ['check', 'rules', file];
    const { status, stdout, stderr } = spawnSync(requireProgram('promtool'), args, { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });
});
