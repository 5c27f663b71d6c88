import type { PreviewAnswer, RulesAnswer, TestAnswer } from '../../http/dashboard/rules.ts';
import type { RuleView } from '../../rules/engine.ts';
import { fetchJson } from '../api.ts';
import { ago, counted } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { ownSource } from '../mount.ts';
import { button, field } from '../parts/controls.ts';
import { openDialog, openForm } from '../parts/dialog.ts';
import { banner, card, facts, pageHead, tag, timeTag } from '../parts/layout.ts';
import { useOutcome } from '../parts/load.ts';
import { tableCard } from '../parts/table.ts';
import { pageOf } from '../shell/page.ts';

/** What is told to whom and when: a look at the next message, a test of it, and a pause. */
export const page = pageOf<RulesAnswer>({
  title: 'Rules',
  follows: () => true,
  load: (_place, signal) => fetchJson('/data/rules', { signal }),
  view({ answer: { rules, channels }, place }) {
    const { said, say, attempt } = useOutcome();
    const test = async (rule: RuleView): Promise<void> => {
      const { results } = await fetchJson<TestAnswer>(`${addressOf(rule)}/test`, { body: {} });
      say(results.map(({ channel, outcome }) => banner('plain', `${channel}: ${outcomeText(outcome)}`)));
    };
    const pause = async (rule: RuleView): Promise<void> => {
      await fetchJson(`${addressOf(rule)}/pause`, { body: { paused: rule.pausedAt === null } });
      await place.reload();
    };
    const retry = async (rule: RuleView): Promise<void> => {
      const { again } = await fetchJson<{ again: number }>(`${addressOf(rule)}/retry`, { body: {} });
      say(banner('good', `${counted(again, 'message')} will be sent again.`));
      await place.reload();
    };
    return [
      pageHead(
        'Rules',
        'Digests and alerts by mail, Slack, Teams or webhook.',
        h(
          'div.actions',
          button('Add a channel', () => addChannel(place.reload), { id: 'add-channel' }),
          button('Add a rule', () => addRule(channels, place.reload), {
            id: 'add-rule',
            class: 'main',
            disabled: channels.length === 0,
          }),
        ),
      ),
      said,
      h(
        'div.stacked',
        channelList(channels, place.reload),
        rules.length === 0
          ? h(
              'p.empty.card',
              'There is no rule yet. Add a channel, which says where messages go, and then a rule, which says what is told and how often. ',
              h('a', { href: '/docs/rules.md' }, 'Examples to begin with'),
              '.',
            )
          : rules.map((rule) =>
              ruleCard(rule, [
                button('Preview', () => void attempt(() => preview(rule))),
                button('Send a test', () => void attempt(() => test(rule))),
                button(rule.pausedAt === null ? 'Pause' : 'Go on', () => void attempt(() => pause(rule))),
                button('Remove', () => removeRule(rule, place.reload)),
                rule.failed > 0
                  ? button('Send again what failed', () => void attempt(() => retry(rule)))
                  : null,
              ]),
            ),
      ),
    ];
  },
});

type Channels = RulesAnswer['channels'];
type Reload = () => Promise<void>;

function channelList(channels: Channels, reload: Reload): Child {
  if (channels.length === 0) return null;
  const remove = (name: string): VNode =>
    button('Remove', () => removeChannel(name, reload), {
      class: 'small',
      'aria-label': `Remove the channel ${name}`,
    });
  return tableCard<Channels[number]>(
    { title: 'Channels' },
    {
      columns: [
        { head: 'Name', kind: 'wide', cell: ({ name }) => name },
        { head: 'Kind', cell: ({ kind }) => tag(kind) },
        { head: '', cell: ({ name }) => remove(name) },
      ],
      rows: channels,
      key: ({ name }) => name,
    },
  );
}

function addChannel(reload: Reload): void {
  const names = { mail: 'E-mail', slack: 'Slack', teams: 'Teams', webhook: 'Signed webhook' };
  openForm({
    title: 'Add a channel',
    content: [
      field('Name', h('input', { name: 'name', required: true, pattern: '[A-Za-z0-9_\\-]{1,40}' })),
      field('Kind', h('select', { name: 'kind' }, options(names))),
      field(
        'Addresses with commas between, or the address of the incoming webhook',
        h('input', { name: 'address', required: true, autocomplete: 'off' }),
      ),
      field(
        'Key of a signed webhook: 24 to 64 bytes in base64',
        h('input', { name: 'secret', type: 'password', autocomplete: 'off' }),
      ),
    ],
    action: 'Add',
    async run(fields) {
      const text = textsOf(fields);
      const body = { name: text('name'), secret: text('secret'), [text('kind') ?? '']: text('address') };
      await fetchJson('/data/channels', { body });
      await reload();
    },
  });
}

function removeChannel(name: string, reload: Reload): void {
  openForm({
    title: `Remove the channel ${name}?`,
    content: h('p', 'Messages that wait for it are given up. Rules that name it have to be changed first.'),
    action: 'Remove',
    isDangerous: true,
    async run() {
      await fetchJson(`/data/channels/${encodeURIComponent(name)}/remove`, { body: {} });
      await reload();
    },
  });
}

const WHATS = {
  digest: 'Digest: what is new, climbs, was shipped and waits',
  'new-posts': 'New posts',
  status: 'Posts that get another status',
  customer: 'Posts and comments of imported customers',
  unanswered: 'Posts without a reply for some days',
  votes: 'Unusually many votes on a board',
  drift: 'Fields of the API that changed',
  trouble: 'Trouble with reading or sending',
};
const SOURCES = { '': 'This one', all: 'All' };
const EVERIES = { weekly: 'Weekly', daily: 'Daily', hourly: 'Hourly', 'at-once': 'At once' };

function addRule(channels: Channels, reload: Reload): void {
  const input = (name: string, label: string, more: object = {}): VNode =>
    field(label, h('input', { name, autocomplete: 'off', ...more }));
  openForm({
    title: 'Add a rule',
    content: [
      input('name', 'Name', { required: true, pattern: '[A-Za-z0-9_\\-]{1,40}' }),
      field('What', h('select', { name: 'what' }, options(WHATS))),
      field('How often', h('select', { name: 'every' }, options(EVERIES))),
      input('at', 'At, if daily or weekly', { value: 'mon 09:00' }),
      input('zone', 'Time zone', { value: Intl.DateTimeFormat().resolvedOptions().timeZone }),
      field(
        'To',
        h(
          'select',
          { name: 'to', multiple: true, required: true },
          options(Object.fromEntries(channels.map(({ name }) => [name, name]))),
        ),
      ),
      ownSource() === null
        ? null
        : field('Sources, for digest', h('select', { name: 'sources' }, options(SOURCES))),
      input('boards', 'Only these boards, with commas between'),
      input('statuses', 'Only these statuses, for status'),
      input('segment', 'Only these customers, for customer', { placeholder: 'plan=Pro' }),
      input('days', 'Days without a reply, for unanswered', { type: 'number', min: 1, max: 365 }),
    ],
    action: 'Add',
    async run(fields) {
      const text = textsOf(fields);
      const list = (name: string) =>
        text(name)
          ?.split(',')
          .map((part) => part.trim());
      const days = text('days');
      await fetchJson('/data/rules', {
        body: {
          ...{ name: text('name'), what: text('what'), every: text('every'), to: fields.getAll('to') },
          ...{ at: text('at'), zone: text('zone'), segment: text('segment') },
          ...{ sources: text('sources'), boards: list('boards'), statuses: list('statuses') },
          days: days === undefined ? undefined : Number(days),
        },
      });
      await reload();
    },
  });
}

function removeRule(rule: RuleView, reload: Reload): void {
  openForm({
    title: `Remove the rule ${rule.name}?`,
    content: h('p', 'Messages of it that wait are given up.'),
    action: 'Remove',
    isDangerous: true,
    async run() {
      await fetchJson(`${addressOf(rule)}/remove`, { body: {} });
      await reload();
    },
  });
}

function options(names: Readonly<Record<string, string>>): VNode[] {
  return Object.entries(names).map(([value, text]) => h('option', { key: value, value }, text));
}

/** What is filled in; an empty field says nothing. */
function textsOf(fields: FormData): (name: string) => string | undefined {
  return (name) => String(fields.get(name) ?? '').trim() || undefined;
}

function addressOf({ name }: RuleView): string {
  return `/data/rules/${encodeURIComponent(name)}`;
}

function outcomeText(outcome: TestAnswer['results'][number]['outcome']): string {
  return outcome.kind === 'sent' ? 'the test was sent' : outcome.error;
}

function ruleCard(rule: RuleView, actions: Child): VNode {
  const { name, what, every, to, pausedAt, next, waiting, failed, lastSent, lastError } = rule;
  const when = every.replace('-', ' ');
  const state = pausedAt === null ? tag('on', 'good') : tag('paused', 'warn');
  return card(
    { title: name, note: state },
    facts([
      ['Tells', [what, ', ', when]],
      ['To', to.join(', ')],
      ['Next', next === null ? 'as soon as something happens' : timeTag(next)],
      ['Last sent', ago(lastSent)],
      ...(waiting > 0 ? ([['Waiting', counted(waiting, 'message')]] as [string, Child][]) : []),
      ...(failed > 0
        ? ([['Failed', [counted(failed, 'message'), ': ', lastError]]] as [string, Child][])
        : []),
    ]),
    h('div.actions', actions),
  );
}

/** As it would be sent now, in words: the form of mail is for mail programs. */
async function preview(rule: RuleView): Promise<void> {
  const { subject, text } = await fetchJson<PreviewAnswer>(`${addressOf(rule)}/preview`);
  openDialog(subject, (close) => [
    h('p.text', { dir: 'auto' }, text),
    h('div.actions', h('button.main', { type: 'button', autofocus: true, onClick: close }, 'Close')),
  ]);
}
