import type { FastifyRequest } from 'fastify';
import { type Answer, jsonAnswer, problem } from './answer.ts';
import type { FaultRule } from './fault-kinds.ts';

/** The answer that a fault gives in place of the real one. */
export function faultAnswer(rule: FaultRule, request: FastifyRequest, now: number): Answer {
  switch (rule.kind) {
    case 'throttle':
      return problem(429, 'Too many requests.', undefined, retryAfter(rule, now));
    case 'unauthorised':
      return unauthorised();
    case 'forbidden':
      return problem(403, 'This token may not do that.');
    case 'redirect':
      return problem(rule.code ?? 302, 'It is elsewhere.', undefined, {
        location: rule.target ?? '/elsewhere/',
      });
    default:
      return failure(rule, request);
  }
}

export function unauthorised(): Answer {
  const challenge = { 'www-authenticate': 'Bearer' };
  return problem(401, 'A valid API token is required.', undefined, challenge);
}

/** Services have been seen to send back what they got, token included. */
function failure(rule: FaultRule, request: FastifyRequest): Answer {
  const headers: Record<string, string> =
    rule.retryAfter === undefined ? {} : { 'retry-after': String(rule.retryAfter) };
  const detail = 'Something went wrong.';
  const echo = { request: { url: request.raw.url, headers: request.headers } };
  return jsonAnswer(rule.code ?? defaultCode(rule), rule.echo ? { detail, ...echo } : { detail }, headers);
}

function defaultCode({ kind }: FaultRule): number {
  if (kind === 'status-after') return 502;
  return kind === 'late-commit' ? 504 : 500;
}

function retryAfter(
  { form = 'seconds', retryAfter: after = 2 }: FaultRule,
  now: number,
): Record<string, string> {
  const forms = {
    seconds: { 'retry-after': String(after) },
    date: { 'retry-after': new Date(now + Number(after) * 1000).toUTCString() },
    none: {},
    garbage: { 'retry-after': 'soon' },
  };
  return forms[form];
}
