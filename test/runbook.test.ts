import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { runbookOf, SYMPTOMS } from '../src/base/runbook.ts';
import { examineFolder } from '../src/doctor/machine.ts';
import { assess } from '../src/service/health.ts';
import { progressWith } from './service/healthy.ts';
import { folderFor } from './support/folder.ts';
import { cellsOf, wordsOf } from './support/prose.ts';

const root = resolve(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
const runbook = page.slice(page.indexOf('## Runbook'), page.indexOf('\n## Install'));
const rows = runbook
  .split('\n')
  .filter((line) => line.includes('<a id='))
  .map(cellsOf);

const MOST_WORDS = 25;

describe('the runbook', () => {
  it('begins the page about operations', () => {
    assert.equal(/^## (.*)$/m.exec(page)?.[1], 'Runbook');
  });

  it('has one row for each symptom that the program names, and no other', () => {
    const anchors = rows.map(([symptom = '']) => /^<a id="([a-z-]+)">/.exec(symptom)?.[1]);
    assert.deepEqual([...anchors].sort(), [...SYMPTOMS].sort());
  });

  it('has a symptom, a cause and a command in each row, with at most 25 words a cell', () => {
    for (const row of rows) {
      assert.equal(row.length, 3, row[0]);
      for (const cell of row) {
        assert.ok(cell !== '', row[0]);
        assert.ok(wordsOf(cell) <= MOST_WORDS, cell);
      }
    }
  });

  it('is where every alert leads', () => {
    const { groups } = parse(readFileSync(join(root, 'deploy/alerts.yml'), 'utf8')) as {
      groups: { rules: { alert: string; annotations: { runbook: string } }[] }[];
    };
    const known = new Set<string>(SYMPTOMS.map(runbookOf));
    for (const { alert, annotations } of groups.flatMap(({ rules }) => rules))
      assert.ok(known.has(annotations.runbook), alert);
  });

  it('is where doctor and readyz lead when something is wrong, and only then', (t) => {
    const folder = folderFor(t, 'runbook');
    assert.deepEqual(examineFolder(folder, () => 1000).runbook, ['docs/operations.md#disk-full']);
    assert.deepEqual(examineFolder(folder, () => 10 ** 12).runbook, []);
    const bad = assess(progressWith({ queue: { reachable: false } })).checks;
    assert.deepEqual(
      bad.flatMap(({ runbook: row }) => row ?? []),
      ['docs/operations.md#queue-away'],
    );
  });
});
