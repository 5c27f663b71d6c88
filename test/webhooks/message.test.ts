import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secret } from '../../src/base/secret.ts';
import type { Change } from '../../src/changes/change.ts';
import {
  type Addressee,
  type MessageAuthor,
  messageOfChange,
  postOf,
  testMessage,
} from '../../src/webhooks/message.ts';

const POST = { id: 7, title: 'Dark mode', url: '/p/dark-mode', board: 'mobile' };

function aChange(parts: Record<string, unknown>): Change {
  const plain = {
    position: '12-ab',
    number: 12,
    type: 'post.votes_changed',
    time: '2026-01-01T00:00:00.000Z',
  };
  return { ...plain, post: POST, ...parts } as unknown as Change;
}

interface Wishes {
  format?: Addressee['format'];
  personal?: boolean;
  author?: MessageAuthor | null;
  base?: string | null;
}

function bodyOf(change: Change, wishes: Wishes = {}): Record<string, unknown> {
  const { format = 'slack', personal = true, author = null, base = 'https://upstream.test' } = wishes;
  const addressee = { url: new Secret('https://example.com/hook'), key: null, format, personal };
  return JSON.parse(postOf(addressee, messageOfChange('abcdefgh-1', change, author), 0, base).body);
}

/** The sentence that people in a channel read. */
function sentenceOf(change: Change, wishes: Wishes = {}): string {
  const { text, content, attachments } = bodyOf(change, wishes) as Record<string, string> & {
    attachments?: { content: { body: { text: string }[] } }[];
  };
  return text ?? content ?? attachments?.[0]?.content.body[0]?.text ?? '';
}

const titled = (title: string): Change =>
  aChange({ type: 'post.created', post: { ...POST, title, board: title } });

describe('a link in a message for people', () => {
  const encoded = aChange({ post: { ...POST, url: '/p/%E3%83%80%E3%83%BC%E3%82%AF|(1)/' } });

  it('keeps what the service has encoded', () => {
    assert.match(
      sentenceOf(encoded),
      /<https:\/\/upstream\.test\/p\/%E3%83%80%E3%83%BC%E3%82%AF%7C%281%29\/\|/,
    );
    assert.match(sentenceOf(encoded, { format: 'teams' }), /\/p\/%E3%83%80%E3%83%BC%E3%82%AF%7C%281%29\/\)/);
  });
});

describe('a title in a message for people', () => {
  for (const format of ['slack', 'discord', 'teams'] as const)
    it(`is cut, so that the channel takes the message (${format})`, () => {
      assert.ok(sentenceOf(titled('word '.repeat(8000)), { format }).length < 500);
    });

  it('cannot mention people or make links in Slack', () => {
    assert.equal(
      sentenceOf(titled('<!channel> & <@U1|you>')),
      'New post on &lt;!channel&gt; &amp; &lt;@U1|you&gt;: ' +
        '<https://upstream.test/p/dark-mode|&lt;!channel&gt; &amp; &lt;@U1¦you&gt;>',
    );
  });

  for (const format of ['discord', 'teams'] as const)
    it(`is no markup of its own (${format})`, () => {
      const shown = String.raw`\@here \[a\](b) \*\*c\*\* \_d\_ \`e\` \#f \~g\~ \|\|h\|\| \<@1\> \{i\} \\`;
      assert.equal(
        sentenceOf(titled('@here [a](b) **c** _d_ `e` #f ~g~ ||h|| <@1> {i} \\'), { format }),
        `New post on ${shown.replace('<@1', String.raw`<\@1`)}: [${shown.replace('<@1', String.raw`<\@1`)}](https://upstream.test/p/dark-mode)`,
      );
    });
});

describe('a message for people', () => {
  it('links to http and https pages only, and has no link without a URL', () => {
    const linked = (url: string, base: string | null) =>
      sentenceOf(aChange({ type: 'post.deleted', post: { ...POST, url } }), { base });
    assert.equal(
      linked('/p/1', 'https://upstream.test'),
      'A post was deleted: <https://upstream.test/p/1|Dark mode>',
    );
    assert.equal(linked('http://other.test/1', null), 'A post was deleted: <http://other.test/1|Dark mode>');
    for (const url of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd'])
      assert.equal(linked(url, 'https://upstream.test'), 'A post was deleted: Dark mode');
    assert.equal(linked('/p/1', null), 'A post was deleted: Dark mode');
  });

  it('says what was and what is, in this order', () => {
    const moved = { type: 'post.moved', before: { board: 'Mobile' }, after: { board: 'Internal' } };
    const status = { type: 'post.status_changed', before: { status: 'Open' }, after: { status: 'Done' } };
    const said = [moved, status].map((parts) => sentenceOf(aChange({ ...parts, post: undefined })));
    assert.deepEqual(said, ['Moved from Mobile to Internal', 'Open → Done']);
  });

  it('counts one and several, and says what is not known', () => {
    const votes = (after: object | undefined) => sentenceOf(aChange({ after, post: undefined }));
    assert.deepEqual(
      [votes({ votes_count: 1 }), votes({ votes_count: 0 }), votes(undefined)],
      ['1 vote', '0 votes', '? votes'],
    );
  });

  it('names the author, escaped against mentions, only where people may be shown', () => {
    const author = { name: '<!here>', email: 'eve@example.com' };
    const change = aChange({ type: 'post.edited', post: undefined });
    assert.equal(sentenceOf(change, { author }), 'A post was edited (&lt;!here&gt;)');
    assert.equal(sentenceOf(change, { author, personal: false }), 'A post was edited');
    assert.equal(sentenceOf(change, { author: { ...author, name: null } }), 'A post was edited');
  });

  it('tells an internal comment from one that everybody sees', () => {
    const said = [1, 0].map((internal) =>
      sentenceOf(aChange({ type: 'comment.created', comment: { internal }, post: undefined })),
    );
    assert.deepEqual(said, ['New internal comment', 'New comment']);
  });
});

describe('a message', () => {
  it('carries the change and its author as data, and a test message carries no change', () => {
    const author = { name: 'Eve', email: 'eve@example.com' };
    const { type, timestamp, data } = bodyOf(aChange({}), { format: 'standard', author });
    assert.deepEqual([type, timestamp], ['post.votes_changed', '2026-01-01T00:00:00.000Z']);
    assert.deepEqual(data, { ...aChange({}), author });
    const addressee = { url: new Secret('https://example.com/'), key: null, personal: false } as const;
    const test = postOf({ ...addressee, format: 'slack' }, testMessage('1', ''), 1_999, null);
    assert.match(test.body, /This is a test of Feedback Mirror/);
    const plain = postOf({ ...addressee, format: 'standard' }, testMessage('1', 'now'), 0, null);
    assert.deepEqual(JSON.parse(plain.body), { type: 'webhook.test', timestamp: 'now', data: {} });
    assert.deepEqual([test.headers['webhook-id'], test.headers['webhook-timestamp']], ['test_1', '1']);
  });

  it('without personal data has no name of a person in the status of a comment', () => {
    const status = JSON.stringify({
      ...{ id: 2, name: 'Planned' },
      changed_by: { id: 50, name: 'Kim Zyx', alias: 'zyx', email: 'kim@example.com' },
    });
    const change = aChange({ type: 'comment.created', comment: { id: 1, status }, after: { status } });
    const shown = JSON.stringify(bodyOf(change, { format: 'standard', personal: false }));
    assert.doesNotMatch(shown, /zyx|kim/i);
    assert.equal(shown.match(/Planned/g)?.length, JSON.stringify(change).match(/Planned/g)?.length);
    assert.match(JSON.stringify(bodyOf(change, { format: 'standard' })), /Kim Zyx/);
  });
});
