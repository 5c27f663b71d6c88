import type { FastifyInstance } from 'fastify';
import type { Rules } from '../../app/rules.ts';
import { AppError } from '../../base/errors.ts';
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
import { isOn, required, textIn } from './parameters.ts';

export interface RulesAnswer {
  /** Whether RULES_FILE is set. */
  isSet: boolean;
  rules: RuleView[];
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

/** `/data/rules`: the rules, a preview and a test of each; pausing one, and sending again what was given up. */
export function addRules(app: FastifyInstance, { rules }: { rules: Rules | null }): void {
  const stop = new AbortController();
  app.addHook('preClose', async () => stop.abort(new AppError('interrupted', 'the service is stopping')));
  const chosen = (params: unknown) => {
    const name = required(textIn(params, 'name'), 'name');
    const rule = rules?.deps.rules.find((one) => one.name === name);
    if (!rules || !rule) throw new AppError('usage', `there is no rule "${name}"`);
    return { rule, deps: rules.deps };
  };
  const all = (): RulesAnswer => ({ isSet: rules !== null, rules: rules ? viewRules(rules.deps) : [] });
  app.get('/data/rules', async () => all());
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
