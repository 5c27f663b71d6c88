import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { markdown, openFindings, passes } from './report.ts';

function findingsOf(holds: boolean) {
  const findings = openFindings('mirror');
  findings.check('is exact', holds, '3 rows differ');
  return [findings];
}

describe('the report of npm run real', () => {
  it('passes where every check holds, and fails where one does not', () => {
    assert.equal(passes(findingsOf(true), {}), true);
    assert.equal(passes(findingsOf(false), {}), false);
    assert.match(markdown(findingsOf(false), {}), /\| mirror \| is exact \| \*\*FAILED\*\* 3 rows differ \|/);
  });

  it('passes where a check fails that is known to fail today, and shows the reason', () => {
    const known = { 'mirror: is exact': 'rows are cut' };
    assert.equal(passes(findingsOf(false), known), true);
    assert.match(markdown(findingsOf(false), known), /known today: rows are cut \(3 rows differ\)/);
  });

  it('fails where a check holds that is marked as failing today', () => {
    const known = { 'mirror: is exact': 'rows are cut' };
    assert.equal(passes(findingsOf(true), known), false);
    assert.match(markdown(findingsOf(true), known), /remove its mark/);
  });

  it('keeps a text with bars and line breaks in one cell', () => {
    const findings = openFindings('a');
    findings.figure('one\ntwo', 'x|y');
    assert.match(markdown([findings], {}), /^\| a \| one two \| x\\\|y \|$/m);
  });
});
