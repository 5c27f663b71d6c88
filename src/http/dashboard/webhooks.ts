import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Webhooks } from '../../app/webhooks.ts';
import { iso } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Webhook } from '../../contract/telling.ts';
import { replay, sendTestMessage } from '../../webhooks/deliver.ts';
import type { ReceiverAnswer } from '../../webhooks/send.ts';
import type { Delivery, WebhookState } from '../../webhooks/store.ts';
import { listOf, numberOf, required, textIn } from './parameters.ts';

/** An endpoint as the page shows it: its address is a secret, its host is not. */
export interface WebhookView extends Omit<WebhookState, 'not_before' | 'failures'> {
  host: string;
  format: Webhook['format'];
  types: readonly string[] | null;
  boards: readonly string[] | null;
  rule: string | null;
  /** Added here, and so to be removed here. */
  isOwn: boolean;
  lag: number;
  last: Delivery | null;
}

export interface WebhooksPage {
  webhooks: WebhookView[];
}

/** The answer to a webhook that was added: the only one that ever holds its key. */
export interface AddedWebhook extends WebhooksPage {
  id: string;
  secret: string | null;
}

export interface DeliveriesPage {
  deliveries: Delivery[];
}

const DELIVERIES = 100;

/** `/data/webhooks`: the endpoints and how delivering goes; one more, a pause, an end, a test, a change once more. */
export function addWebhooks(app: FastifyInstance, { webhooks }: { webhooks: Webhooks | null }): void {
  const stop = new AbortController();
  app.addHook('preClose', async () => stop.abort(new AppError('interrupted', 'the service is stopping')));
  const chosen = (params: unknown) => {
    const id = required(textIn(params, 'id'), 'id');
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
  app.post('/data/webhooks', async ({ body }): Promise<AddedWebhook> => {
    if (!webhooks) throw new AppError('usage', 'this service tells no webhooks');
    const format = textIn(body, 'format') ?? 'standard';
    const secret = format === 'standard' ? randomBytes(KEY_BYTES).toString('base64') : null;
    const types = listOf(body, 'types');
    const given = {
      url: required(textIn(body, 'url'), 'url'),
      format,
      ...(secret && { secret }),
      ...(types.length > 0 && { types }),
      ...partOf(body, 'name'),
      ...partOf(body, 'rule'),
    };
    return { id: webhooks.add(given).id, secret: secret && `whsec_${secret}`, ...all() };
  });
  app.post('/data/webhooks/:id/pause', async ({ params }) => {
    const { endpoint, deps } = chosen(params);
    deps.store.pause(endpoint.id, iso(deps.clock.now()));
    return all();
  });
  app.post('/data/webhooks/:id/remove', async ({ params }) => {
    const { endpoint } = chosen(params);
    if (!webhooks?.isOwn(endpoint.id))
      throw new AppError('usage', 'this webhook is one of the settings', {
        hint: 'Remove it from WEBHOOK_URL or WEBHOOKS_FILE, or pause it here.',
      });
    webhooks.remove(endpoint.id);
    return all();
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

const KEY_BYTES = 32;

/** An object with this field if the body has it. */
function partOf(body: unknown, name: string): Record<string, string> {
  const text = textIn(body, name);
  return text === null ? {} : { [name]: text };
}

function viewsOf({ endpoints, isOwn, deps: { store } }: Webhooks): WebhookView[] {
  return endpoints.map(({ id, host, format, types, boards, rule }) => {
    const { not_before: _, failures: __, ...state } = store.state(id);
    const ruled = rule && `${rule.field}${rule.operator}${rule.value}`;
    const [last = null] = store.deliveries(id, 1);
    const isMade = isOwn(id);
    return {
      ...state,
      host,
      format,
      types,
      boards,
      rule: ruled,
      isOwn: isMade,
      lag: store.lag(state.position),
      last,
    };
  });
}
