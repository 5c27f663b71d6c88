import { useState } from 'preact/hooks';
import type { describeSettings } from '../../app/place.ts';
import { fetchJson } from '../api.ts';
import { h, type VNode } from '../h.ts';
import { field } from '../parts/controls.ts';
import { card, pageHead, tag } from '../parts/layout.ts';
import { type TableColumn, table } from '../parts/table.ts';
import { pageOf } from '../shell/page.ts';

type SettingLine = ReturnType<typeof describeSettings>[number];

const COLUMNS: TableColumn<SettingLine>[] = [
  { head: 'Setting', cell: ({ name, meaning }) => [h('code', name), h('p.note', meaning)] },
  {
    head: 'Value',
    cell: ({ value, otherwise, from }) => [
      value === null ? h('span.quiet', otherwise || 'not set') : h('code', value === '' ? '""' : value),
      ' ',
      tag(from, from === 'default' ? null : 'good'),
    ],
  },
];

/** By the first word of a name, such as PUSH of PUSH_PER_MINUTE. */
const GROUPS: Record<string, string[]> = {
  'Feedback service': ['FEEDBACK'],
  Reading: ['SYNC', 'TZ'],
  Sending: ['PUSH'],
  Files: ['DATA', 'MIRROR', 'QUEUE', 'RETENTION', 'CHANGES'],
  'Dashboard, API and agents': ['HTTP', 'DASHBOARD', 'FEED', 'MCP'],
  'Exports and copies': ['EXPORT', 'PUBLISH'],
  'Webhooks, rules and mail': ['WEBHOOK', 'WEBHOOKS', 'RULES', 'SMTP', 'MAIL'],
  'Sources and machines': ['SOURCE', 'SOURCES', 'FLEET'],
};

function groupOf({ name }: SettingLine): string {
  const [word = name] = name.split('_');
  return Object.entries(GROUPS).find(([, words]) => words.includes(word))?.[0] ?? 'Others';
}

/** What `feedback-mirror config` prints: every setting, where it came from and what it means. Secrets are masked by the service. */
export const page = pageOf<{ settings: SettingLine[] }>({
  title: 'Settings',
  load: (_place, signal) => fetchJson('/data/settings', { signal }),
  view({ answer: { settings } }) {
    const [text, setText] = useState('');
    const [hasDefaults, setDefaults] = useState(false);
    const words = text.toLowerCase().split(/\s+/);
    const fits = ({ name, meaning, value }: SettingLine): boolean =>
      words.every((word) => `${name} ${meaning} ${value}`.toLowerCase().includes(word));
    const shown = settings.filter(
      (line) => fits(line) && (hasDefaults || text !== '' || line.from !== 'default'),
    );
    const search = h('input', {
      type: 'search',
      id: 'field-search-settings',
      value: text,
      placeholder: 'Name or words',
      onInput: ({ currentTarget }) => setText(currentTarget.value.trim()),
    });
    const tick = h('input', {
      type: 'checkbox',
      id: 'field-defaults',
      checked: hasDefaults,
      onChange: ({ currentTarget }) => setDefaults(currentTarget.checked),
    });
    return [
      pageHead(
        'Settings',
        'As the service was started with them: flags come before the environment, .env and the defaults. Secrets are masked.',
      ),
      h('div.filters', field('Search settings', search), h('label.tick', tick, 'Show defaults too')),
      h(
        'div.stacked',
        shown.length === 0 ? h('p.empty.card', 'No setting has these words.') : null,
        [...Map.groupBy(shown, groupOf)].map(([group, rows]) => h(Group, { key: group, group, rows })),
        card(
          { title: 'More about this service' },
          h(
            'ul.plain.choices',
            link('/queues', 'Queues', 'jobs that wait, run and failed'),
            link('/readyz', 'Readiness', 'what keeps the service from being ready, if anything'),
            link('/metrics', 'Metrics', 'for Prometheus'),
          ),
        ),
      ),
    ];
  },
});

function Group({ group, rows }: { group: string; rows: SettingLine[] }): VNode {
  const key = ({ name }: SettingLine): string => name;
  return card({ title: group }, h('div.settings', table({ columns: COLUMNS, rows, key, label: group })));
}

function link(href: string, name: string, what: string): VNode {
  return h('li', h('a.name', { href }, name), h('p.note', what));
}
