import { AppError } from '../base/errors.ts';
import { type FaultKind, type FaultRule, KINDS, kindOf, suits, TARGETS, type Target } from './fault-kinds.ts';

/**
 * The language of `--faults`: rules separated by `;`, each a kind followed by `key=value` pairs. A value in double
 * quotes, or a part of one, may hold spaces and semicolons.
 */
export function parseFaults(spec: string): FaultRule[] {
  return pieces(spec, ';')
    .filter((text) => text !== '')
    .map((text, index) => parseRule(text, index + 1));
}

/** The typed form goes through the same checks as the text. */
export function checkRule(rule: FaultRule, number: number): FaultRule {
  const fail = complaint(JSON.stringify(rule), number);
  if (!(rule.kind in KINDS))
    fail(`unknown kind "${rule.kind}"; the kinds are ${Object.keys(KINDS).join(', ')}`);
  const on = rule.on ?? kindOf(rule.kind).on;
  if (!(on in TARGETS)) fail(`on=${on} is not known; it can be ${Object.keys(TARGETS).join(', ')}`);
  if (!TARGETS[on].some((operation) => suits(rule.kind, operation))) {
    fail(`${rule.kind} cannot act on ${on}; by default it acts on ${kindOf(rule.kind).on}`);
  }
  return rule;
}

type Fail = (problem: string) => never;

function complaint(text: string, number: number): Fail {
  return (problem) => {
    throw new AppError('usage', `faults, rule ${number} (${text}): ${problem}`);
  };
}

function parseRule(text: string, number: number): FaultRule {
  const fail = complaint(text, number);
  const [name = '', ...pairs] = pieces(text, ' ').filter((piece) => piece !== '');
  if (!Object.hasOwn(KINDS, name)) {
    fail(`unknown kind "${name}"; the kinds are ${Object.keys(KINDS).join(', ')}`);
  }
  const kind = name as FaultKind;
  const rule: FaultRule = { kind };
  for (const pair of pairs) {
    const mark = pair.indexOf('=');
    if (mark < 1) fail(`"${pair}" is not of the form key=value`);
    const [key, value] = settingOf(kind, pair.slice(0, mark), pair.slice(mark + 1));
    const allowed = [...SELECTORS, ...kindOf(kind).takes];
    if (!allowed.includes(key)) fail(`${kind} does not take "${key}"; it takes ${allowed.join(', ')}`);
    Object.assign(
      rule,
      READERS[key]?.(value, (problem) => fail(`${key}=${value} ${problem}`)),
    );
  }
  return checkRule(rule, number);
}

/** `to=` is a selector when it is a number, and where to lead when it is not. */
function settingOf(kind: FaultKind, key: string, value: string): [string, string] {
  const leads = key === 'to' && !/^\d+$/.test(value) && kindOf(kind).takes.includes('target');
  return [leads ? 'target' : key, value];
}

const SELECTORS = ['on', 'nth', 'from', 'to', 'every', 'p', 'times'];

type Reader = (text: string, fail: Fail) => Partial<FaultRule>;

const READERS: Record<string, Reader> = {
  on: (text, fail) => ({ on: oneOf(Object.keys(TARGETS) as Target[], text, fail) }),
  nth: (text, fail) => ({ nth: count(text, fail, 1) }),
  from: (text, fail) => ({ from: count(text, fail, 1) }),
  to: (text, fail) => ({ to: count(text, fail, 1) }),
  every: (text, fail) => ({ every: count(text, fail, 1) }),
  times: (text, fail) => ({ times: count(text, fail, 1) }),
  p: (text, fail) => ({ p: probability(text, fail) }),
  ms: (text, fail) => ({ ms: count(text, fail, 0) }),
  bytes: (text, fail) => ({ bytes: count(text, fail, 1) }),
  row: (text, fail) => ({ row: text === 'any' ? text : count(text, fail, 0) }),
  back: (text, fail) => ({ back: count(text, fail, 0) }),
  code: (text, fail) => ({ code: statusCode(text, fail) }),
  'retry-after': (text) => ({ retryAfter: unquoted(text) }),
  form: (text, fail) => ({ form: oneOf(['seconds', 'date', 'none', 'garbage'], text, fail) }),
  echo: (text, fail) => ({ echo: oneOf(['yes', 'no'], text, fail) === 'yes' }),
  answer: (text, fail) => ({ answer: oneOf(['status', 'reset', 'hang'], text, fail) }),
  target: (text) => ({ target: unquoted(text) }),
  field: (text) => ({ field: unquoted(text) }),
  name: (text) => ({ name: unquoted(text) }),
  value: (text, fail) => ({ value: jsonValue(text, fail) }),
};

function oneOf<T extends string>(allowed: readonly T[], text: string, fail: Fail): T {
  return allowed.find((known) => known === text) ?? fail(`is not known; it can be ${allowed.join(', ')}`);
}

function count(text: string, fail: Fail, least: number): number {
  const value = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least
    ? value
    : fail(`is not a whole number from ${least} up`);
}

function probability(text: string, fail: Fail): number {
  const value = Number(text);
  return text !== '' && value > 0 && value <= 1 ? value : fail('is not a probability above 0 and up to 1');
}

function statusCode(text: string, fail: Fail): number {
  const value = count(text, fail, 0);
  return value >= 200 && value <= 599 ? value : fail('is not a status code from 200 to 599');
}

function jsonValue(text: string, fail: Fail): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail('is not JSON');
  }
}

function unquoted(text: string): string {
  return /^"(.*)"$/s.exec(text)?.[1] ?? text;
}

/** Splits outside double quotes; a space stands for any white space. */
function pieces(text: string, separator: ';' | ' '): string[] {
  const stop = separator === ';' ? ';' : '\\s';
  const piece = new RegExp(`(?:"(?:[^"\\\\]|\\\\.)*"|[^"${stop}]|")+`, 'g');
  return (text.match(piece) ?? []).map((found) => found.trim());
}
