import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asSlack, asTeams } from '../../src/rules/forms.ts';
import type { Letter, Line } from '../../src/rules/letter.ts';

const LINK = 'https://feedback.example.com/p/%C3%BCbersicht/';

function letterWith(lines: Line[], more: number): Letter {
  const sections = [{ head: 'New posts', lines, more }];
  return { subject: 'Feedback', intro: '', sections, link: null, isRepeated: false };
}

function named(title: string): Line {
  return { text: 'Mobile, 3 votes', title, link: LINK };
}

describe('a message for Slack', () => {
  it('shows the first lines that fit, and counts all others', () => {
    const lines = Array.from({ length: 20 }, (_, i) => named(`Post ${i} ${'word '.repeat(28)}`));
    const text = JSON.stringify(asSlack(letterWith(lines, 14)));
    const shown = text.split('•').length - 1;
    assert.ok(shown > 5 && shown < 20, text);
    assert.match(text, new RegExp(`and ${34 - shown} more`));
  });
});

describe('a link in a message', () => {
  it('stays as the service has encoded it', () => {
    for (const form of [asSlack, asTeams]) {
      const text = JSON.stringify(form(letterWith([named('Übersicht')], 0)));
      assert.ok(text.includes(LINK), text);
    }
  });
});
