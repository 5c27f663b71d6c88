import type { FastifyInstance } from 'fastify';
import type { Webhooks } from '../../app/webhooks.ts';
import { AppError } from '../../base/errors.ts';
import { type Endpoint, replay, sendTestMessage } from '../../webhooks/deliver.ts';
import type { ReceiverAnswer } from '../../webhooks/send.ts';
import type { Delivery, WebhookState } from '../../webhooks/store.ts';
import { numberOf, required, textOf } from './parameters.ts';

/** An endpoint as the page shows it: its address is a secret, its host is not. */
export interface WebhookView extends Omit<WebhookState, 'not_before' | 'failures'> {
  host: string;
  format: Endpoint['format'];
  types: readonly string[] | null;
  boards: readonly string[] | null;
  rule: string | null;
  lag: number;
  last: Delivery | null;
}

export interface WebhooksPage {
  webhooks: WebhookView[];
}

export interface DeliveriesPage {
  deliveries: Delivery[];
}

const DELIVERIES = 100;

/** `/data/webhooks`: the endpoints and how delivering goes; a test, a change once more, and enabling one again. */
export function addWebhooks(app: FastifyInstance, { webhooks }: { webhooks: Webhooks | null }): void {
  const stop = new AbortController();
  app.addHook('preClose', async () => stop.abort(new AppError('interrupted', 'the service is stopping')));
  const chosen = (params: unknown) => {
    const id = required(textOf(params, 'id'), 'id');
    const endpoint = webhooks?.endpoints.find((one) => one.id === id);
    if (!webhooks || !endpoint) throw new AppError('usage', `there is no webhook "${id}"`);
    return { endpoint, deps: { ...webhooks.deps, signal: stop.signal } };
  };
  const all = (): WebhooksPage => ({ webhooks: webhooks ? viewsOf(webhooks) : [] });
  app.get('/data/webhooks', async () => all());
  app.get('/data/webhooks/:id', async ({ params }): Promise<DeliveriesPage> => {
    const { endpoint, deps } = chosen(params);
    return { deliveries: deps.store.deliveries(endpoint.id, DELIVERIES) };
  });
  app.post('/data/webhooks/:id/test', async ({ params }): Promise<ReceiverAnswer> => {
    const { endpoint, deps } = chosen(params);
    return await sendTestMessage(deps, endpoint);
  });
  app.post('/data/webhooks/:id/replay', async ({ params, body }): Promise<ReceiverAnswer> => {
    const { endpoint, deps } = chosen(params);
    return await replay(deps, endpoint, required(numberOf(body, 'change'), 'change'));
  });
  app.post('/data/webhooks/:id/enable', async ({ params }) => {
    const { endpoint, deps } = chosen(params);
    deps.store.enable(endpoint.id);
    return all();
  });
}

function viewsOf({ endpoints, deps: { store } }: Webhooks): WebhookView[] {
  return endpoints.map(({ id, host, format, types, boards, rule }) => {
    const { not_before: _, failures: __, ...state } = store.state(id);
    const ruled = rule && `${rule.field}${rule.operator}${rule.value}`;
    const [last = null] = store.deliveries(id, 1);
    return { ...state, host, format, types, boards, rule: ruled, lag: store.lag(state.position), last };
  });
}
