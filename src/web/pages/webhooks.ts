import type {
  AddedWebhook,
  DeliveriesPage,
  WebhooksPage,
  WebhookView,
} from '../../http/dashboard/webhooks.ts';
import type { ReceiverAnswer } from '../../webhooks/send.ts';
import type { Delivery } from '../../webhooks/store.ts';
import { fetchJson } from '../api.ts';
import { counted } from '../format.ts';
import { type Child, h, type VNode } from '../h.ts';
import { button, field } from '../parts/controls.ts';
import { openForm } from '../parts/dialog.ts';
import { banner, card, pageHead, timeTag } from '../parts/layout.ts';
import { useOutcome } from '../parts/load.ts';
import { type TableColumn, table } from '../parts/table.ts';
import { pageOf } from '../shell/page.ts';

/** Endpoints that are told of changes, what became of the last deliveries, and the ways to try one again. */
export const page = pageOf<Endpoint[]>({
  title: 'Webhooks',
  follows: () => true,
  load: (_place, signal) => loadAll(signal),
  view({ answer, place }) {
    const { said, say, attempt } = useOutcome();
    const send = async (
      path: string,
      body: object,
      words: (answer: ReceiverAnswer) => string,
    ): Promise<void> => {
      const answer = await fetchJson<ReceiverAnswer>(path, { body });
      say(banner(answer.error ? 'bad' : 'good', words(answer)));
      await place.reload();
    };
    const act: Act = (...asked) => void attempt(() => send(...asked));
    return [
      pageHead(
        'Webhooks',
        [
          'Endpoints that are told of every change, in order. ',
          h('a', { href: '/docs/changes.md' }, 'How a message looks'),
        ],
        button('Add a webhook', () => addWebhook(say, place.reload), { id: 'add-webhook', class: 'main' }),
      ),
      said,
      h(
        'div.stacked',
        answer.length === 0
          ? h('p.empty.card', 'No endpoint is told of changes.')
          : answer.map((each) => endpoint(each, act, () => removeWebhook(each.webhook, place.reload))),
      ),
    ];
  },
});

type Endpoint = { webhook: WebhookView; deliveries: Delivery[] };
type Act = (path: string, given: object, say: (answer: ReceiverAnswer) => string) => void;

async function loadAll(signal: AbortSignal): Promise<Endpoint[]> {
  const { webhooks } = await fetchJson<WebhooksPage>('/data/webhooks', { signal });
  const each = webhooks.map(async (webhook) => {
    const { deliveries } = await fetchJson<DeliveriesPage>(addressOf(webhook), { signal });
    return { webhook, deliveries };
  });
  return await Promise.all(each);
}

function addressOf({ id }: WebhookView): string {
  return `/data/webhooks/${encodeURIComponent(id)}`;
}

const answerText = ({ status, error, ms }: ReceiverAnswer): string =>
  error ?? `It answered ${status} in ${ms} ms.`;

const FORMATS = [
  ['standard', 'Standard Webhooks, signed'],
  ['slack', 'Slack'],
  ['discord', 'Discord'],
  ['teams', 'Teams'],
];

/** The key is shown once, with what came of adding it: nobody can read it here again. */
function addWebhook(say: (words: Child) => void, reload: () => Promise<void>): void {
  const input = (name: string, label: string, more: object = {}): VNode =>
    field(label, h('input', { name, id: `webhook-${name}`, autocomplete: 'off', ...more }));
  openForm({
    title: 'Add a webhook',
    content: [
      input('url', 'Address', { type: 'url', required: true, placeholder: 'https://…/hook' }),
      field(
        'Form of the messages',
        h(
          'select',
          { name: 'format', id: 'webhook-format' },
          FORMATS.map(([value, text]) => h('option', { value }, text)),
        ),
      ),
      input('name', 'Name (optional)', { pattern: '[A-Za-z0-9_\\-]{1,40}' }),
      input('types', 'Only these types (optional)', { placeholder: 'post.*, outbox.needs_decision' }),
      input('rule', 'Only where (optional)', { placeholder: 'votes>=50' }),
    ],
    action: 'Add',
    async run(fields) {
      const filled = [...fields].flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]]));
      const { id, secret } = await fetchJson<AddedWebhook>('/data/webhooks', {
        body: Object.fromEntries(filled),
      });
      const key = secret && [
        ' Keep its key, which is shown this once: ',
        h('code', { id: 'webhook-secret' }, secret),
      ];
      say(banner('good', `The webhook ${id} was added; it is told of every change from now on.`, key));
      await reload();
    },
  });
}

function removeWebhook({ id, host }: WebhookView, reload: () => Promise<void>): void {
  openForm({
    title: `Remove the webhook ${id}?`,
    content: h('p', `${host} is told of nothing more, and its deliveries are forgotten.`),
    action: 'Remove',
    isDangerous: true,
    async run() {
      await fetchJson(`/data/webhooks/${encodeURIComponent(id)}/remove`, { body: {} });
      await reload();
    },
  });
}

function endpoint({ webhook, deliveries }: Endpoint, act: Act, remove: () => void): VNode {
  const { id, host, lag, lost, disabled_why, disabled_at, failing_since } = webhook;
  const [address, isFailing] = [addressOf(webhook), disabled_at !== null || failing_since !== null];
  const from = lost === 0 ? 'from where it was' : 'from the oldest change that is kept';
  const enable = (): void => act(`${address}/enable`, {}, () => `It is told again ${from}.`);
  return card(
    { title: host, note: [filterText(webhook), ', ', id] },
    disabled_why === null ? null : banner('warn', h('b', 'Not told: '), disabled_why, '.'),
    disabled_why === null && failing_since
      ? banner('warn', 'It has failed since ', timeTag(failing_since), '.')
      : null,
    lost === 0
      ? null
      : banner('bad', `It can no longer be told of ${counted(lost, 'change')}: CHANGES_KEEP was over.`),
    h('p.note', lag === 0 ? 'It was told of every change.' : `It is ${counted(lag, 'change')} behind.`),
    h(
      'div.actions',
      button('Send a test', () => act(`${address}/test`, {}, answerText)),
      isFailing
        ? button(disabled_at === null ? 'Try again now' : 'Go on', enable)
        : button('Pause', () => act(`${address}/pause`, {}, () => 'It is told nothing until you resume it.')),
      webhook.isOwn ? button('Remove', remove, { class: 'danger' }) : null,
    ),
    deliveryTable(deliveries, (change) => act(`${address}/replay`, { change }, answerText)),
  );
}

function filterText({ format, types, boards, rule }: WebhookView): string {
  const parts = [format, types ? types.join(' ') : 'all events', boards && `on ${boards.join(', ')}`, rule];
  return parts.filter(Boolean).join(', ');
}

function deliveryTable(deliveries: readonly Delivery[], replay: (change: number) => void): VNode {
  // A test, or what is not kept any more, cannot be sent again.
  const again = ({ change, type }: Delivery): Child =>
    type.startsWith('webhook.')
      ? null
      : button('Send again', () => replay(change), {
          class: 'small nowrap',
          'aria-label': `Send change ${change}, ${type}, again`,
        });
  const columns: TableColumn<Delivery>[] = [
    { head: 'Change', kind: 'number', cell: ({ change }) => (change === 0 ? 'test' : change) },
    { head: 'Type', cell: ({ type }) => type },
    { head: 'Sent', cell: ({ at }) => h('span.nowrap', timeTag(at)) },
    { head: 'Answer', kind: 'wide', cell: ({ status, error }) => error ?? String(status) },
    { head: 'ms', kind: 'number', cell: ({ ms }) => ms },
    { head: '', cell: again },
  ];
  return table({ columns, rows: deliveries, label: 'Deliveries', empty: 'Nothing was delivered yet.' });
}
