import type { DeliveriesPage, WebhooksPage, WebhookView } from '../../http/dashboard/webhooks.ts';
import type { Delivery } from '../../store/webhooks.ts';
import type { Answer } from '../../webhooks/send.ts';
import { fetchJson } from '../api.ts';
import { type Child, fill, h } from '../dom.ts';
import { counted } from '../format.ts';
import { keepDrawn, type Page } from '../page.ts';
import { attempt, banner, button, card, liveRegion, pageHead, table, timeTag } from '../parts.ts';

/** Endpoints that are told of changes, what became of the last deliveries, and the ways to try one again. */
export const page: Page = {
  title: 'Webhooks',
  async show(context) {
    const { signal } = context;
    const news = liveRegion();
    const body = h('div.stacked');
    context.root.append(
      pageHead(
        'Webhooks',
        'Endpoints that are told of every change, in order. They are set in WEBHOOK_URL or WEBHOOKS_FILE.',
      ),
      news,
      body,
    );
    const send = async (path: string, given: object, say: (answer: Answer) => string): Promise<void> => {
      const answer = await fetchJson<Answer>(path, { body: given });
      fill(news, banner(answer.error ? 'bad' : 'good', say(answer)));
    };
    const act: Act = (...asked) => void attempt(news, () => send(...asked));
    const load = (): Promise<Loaded[]> => loadAll(signal);
    await keepDrawn(context, body, load, (found) =>
      found.length === 0
        ? [h('p.empty', 'No webhook is set. docs/changes.md says how.')]
        : found.map((each) => endpoint(each, act)),
    );
  },
};

type Loaded = { webhook: WebhookView; deliveries: Delivery[] };
type Act = (path: string, given: object, say: (answer: Answer) => string) => void;

async function loadAll(signal: AbortSignal): Promise<Loaded[]> {
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

const told = ({ status, error, ms }: Answer): string => error ?? `It answered ${status} in ${ms} ms.`;

function endpoint({ webhook, deliveries }: Loaded, act: Act): HTMLElement {
  const { id, host, lag, lost, disabled_why, disabled_at, failing_since } = webhook;
  const [address, isFailing] = [addressOf(webhook), disabled_at !== null || failing_since !== null];
  const from = lost === 0 ? 'from where it was' : 'from the oldest change that is kept';
  const enable = (): void => act(`${address}/enable`, {}, () => `It is told again ${from}.`);
  return card(
    { title: host, note: [filterText(webhook), ', ', id] },
    disabled_why === null ? null : banner('bad', h('b', 'Disabled: '), disabled_why),
    disabled_why === null && failing_since
      ? banner('warn', 'It has failed since ', timeTag(failing_since), '.')
      : null,
    lost === 0
      ? null
      : banner('bad', `It can no longer be told of ${counted(lost, 'change')}: CHANGES_KEEP was over.`),
    h('p.note', lag === 0 ? 'It was told of every change.' : `It is ${counted(lag, 'change')} behind.`),
    h(
      'div.actions',
      button('Send a test', () => act(`${address}/test`, {}, told)),
      isFailing ? button('Try again now', enable) : null,
    ),
    deliveryTable(deliveries, (change) => act(`${address}/replay`, { change }, told)),
  );
}

function filterText({ format, types, boards, rule }: WebhookView): string {
  const parts = [format, types ? types.join(' ') : 'all events', boards && `on ${boards.join(', ')}`, rule];
  return parts.filter(Boolean).join(', ');
}

function deliveryTable(deliveries: readonly Delivery[], replay: (change: number) => void): HTMLElement {
  // A test, or what is not kept any more, cannot be sent again.
  const again = ({ change, type }: Delivery): Child =>
    type.startsWith('webhook.')
      ? null
      : button('Send again', () => replay(change), {
          class: 'small nowrap',
          'aria-label': `Send change ${change}, ${type}, again`,
        });
  return table<Delivery>(
    [
      { head: 'Change', kind: 'number', cell: ({ change }) => (change === 0 ? 'test' : change) },
      { head: 'Type', cell: ({ type }) => type },
      { head: 'Sent', cell: ({ at }) => h('span.nowrap', timeTag(at)) },
      { head: 'Answer', kind: 'wide', cell: ({ status, error }) => error ?? String(status) },
      { head: 'ms', kind: 'number', cell: ({ ms }) => ms },
      { head: '', cell: again },
    ],
    deliveries,
    'Deliveries',
    'Nothing was delivered yet.',
  );
}
