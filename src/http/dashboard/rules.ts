import type { FastifyInstance } from 'fastify';
import type { Rules } from '../../app/rules.ts';
import { AppError } from '../../base/errors.ts';
import type { Channel } from '../../contract/telling.ts';
import {
  pauseRule,
  previewLetter,
  type RuleView,
  sendTest,
  type TestResult,
  viewRules,
} from '../../rules/engine.ts';
import { asHtml, asText } from '../../rules/forms.ts';
import type { RuleDelivery } from '../../rules/store.ts';
import { isOn, listOf, required, textIn } from './parameters.ts';

export interface RulesAnswer {
  rules: RuleView[];
  /** Where rules can tell; the addresses of Slack, Teams and webhooks stay in the file. */
  channels: { name: string; kind: Channel['kind'] }[];
}

export interface RuleAnswer {
  deliveries: RuleDelivery[];
}

/** A message as it would be sent; the HTML is for a frame without scripts. */
export interface PreviewAnswer {
  subject: string;
  text: string;
  html: string;
}

export interface TestAnswer {
  results: TestResult[];
}

const DELIVERIES = 100;

/** What a channel of the dashboard may have: a path would read files of the machine. */
const CHANNEL_TEXTS = ['slack', 'teams', 'webhook', 'secret'];

function channelIn(body: unknown): Parameters<Rules['change']>[0] {
  const texts = CHANNEL_TEXTS.map((field) => [field, textIn(body, field)] as const);
  const mail = listOf(body, 'mail');
  const given = Object.fromEntries(texts.filter(([, text]) => text !== null));
  return {
    channel: required(textIn(body, 'name'), 'name'),
    given: mail.length > 0 ? { ...given, mail } : given,
  };
}

/** `/data/rules`: the rules and channels, which are set and removed here; a preview and a test of each; pausing one, and sending again what was given up. */
export function addRules(app: FastifyInstance, { rules }: { rules: Rules | null }): void {
  const stop = new AbortController();
  app.addHook('preClose', async () => stop.abort(new AppError('interrupted', 'the service is stopping')));
  const chosen = (params: unknown) => {
    const name = required(textIn(params, 'name'), 'name');
    const rule = rules?.deps.rules.find((one) => one.name === name);
    if (!rules || !rule) throw new AppError('usage', `there is no rule "${name}"`);
    return { rule, deps: rules.deps };
  };
  const all = (): RulesAnswer => ({
    rules: rules ? viewRules(rules.deps) : [],
    channels: (rules?.deps.channels ?? []).map(({ name, kind }) => ({ name, kind })),
  });
  app.get('/data/rules', async () => all());
  const changed = async (change: Parameters<Rules['change']>[0]): Promise<RulesAnswer> => {
    await rules?.change(change);
    return all();
  };
  app.post('/data/rules', async ({ body }) => {
    const given = (rules?.fields ?? []).map((field) => [field, Reflect.get(Object(body), field)] as const);
    const rule = Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== null));
    return await changed({ rule: required(textIn(body, 'name'), 'name'), given: rule });
  });
  app.post('/data/rules/:name/remove', async ({ params }) =>
    changed({ rule: chosen(params).rule.name, given: null }),
  );
  app.post('/data/channels', async ({ body }) => changed(channelIn(body)));
  app.post('/data/channels/:name/remove', async ({ params }) =>
    changed({ channel: required(textIn(params, 'name'), 'name'), given: null }),
  );
  app.get('/data/rules/:name', async ({ params }): Promise<RuleAnswer> => {
    const { rule, deps } = chosen(params);
    return { deliveries: deps.store.deliveries(rule.name, DELIVERIES) };
  });
  app.get('/data/rules/:name/preview', async ({ params }): Promise<PreviewAnswer> => {
    const { rule, deps } = chosen(params);
    const letter = await previewLetter(deps, rule);
    return { subject: letter.subject, text: asText(letter), html: asHtml(letter) };
  });
  app.post('/data/rules/:name/test', async ({ params }): Promise<TestAnswer> => {
    const { rule, deps } = chosen(params);
    return { results: await sendTest(deps, rule, stop.signal) };
  });
  app.post('/data/rules/:name/pause', async ({ params, body }) => {
    const { rule, deps } = chosen(params);
    pauseRule(deps, rule, isOn(body, 'paused'));
    return all();
  });
  app.post('/data/rules/:name/retry', async ({ params }) => {
    const { rule, deps } = chosen(params);
    return { again: deps.store.retryFailed(rule.name) };
  });
}
