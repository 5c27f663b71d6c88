import type { describeSettings } from '../../app/readers.ts';
import { fetchJson } from '../api.ts';
import { h } from '../dom.ts';
import type { Page } from '../page.ts';
import { card, pageHead, table, tag } from '../parts.ts';

type SettingLine = ReturnType<typeof describeSettings>[number];

/** What `feedback-mirror config` prints: every setting, where it came from and what it means. Secrets are masked by the service. */
export const page: Page = {
  title: 'Settings',
  async show({ root, signal }) {
    const { settings } = await fetchJson<{ settings: SettingLine[] }>('/data/settings', { signal });
    const rows = table<SettingLine>(
      [
        { head: 'Setting', cell: ({ name, meaning }) => [h('code', name), h('p.note', meaning)] },
        {
          head: 'Value',
          cell: ({ value, otherwise }) =>
            value === null ? h('span.quiet', otherwise || 'not set') : h('code', value === '' ? '""' : value),
        },
        {
          head: 'From',
          cell: ({ from }) => tag(from, from === 'default' ? null : 'good'),
        },
      ],
      settings,
      'Settings',
    );
    const where =
      'Flags come before the environment, the environment before .env, and .env before the defaults.';
    root.append(
      pageHead('Settings', 'As the service was started with them. Secrets are masked.'),
      h(
        'div.stacked',
        card({ title: 'Effective settings', note: where }, h('div.settings', rows)),
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
    );
  },
};

function link(href: string, name: string, what: string): HTMLElement {
  return h('li', h('a.name', { href }, name), h('p.note', what));
}
