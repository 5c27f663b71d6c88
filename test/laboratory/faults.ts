import type { Operation } from '../../src/contract/endpoints.ts';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import {
  checkRule,
  type FaultKind,
  type FaultRule,
  kindOf,
  parseFaults,
  type Stage,
  suits,
  TARGETS,
} from './fault-kinds.ts';

export type { FaultKind, FaultRule } from './fault-kinds.ts';

/** A rule at work. */
export interface ActiveRule {
  rule: FaultRule;
  /** Matching requests so far, and how often it acted. */
  seen: number;
  firings: number;
  /** The rows that `same-page` keeps repeating, by operation. */
  repeated: Map<Operation, unknown[]>;
  /** For what a rule leaves to chance beside whether it acts. */
  random: Random;
}

/** The scripted trouble of one sandbox. */
export class Faults {
  readonly #random: Random;
  readonly #fired: Partial<Record<FaultKind, number>> = {};
  readonly #onSet: (rules: readonly FaultRule[]) => void;
  #active: ActiveRule[] = [];

  constructor(
    spec: string | readonly FaultRule[],
    seed: number,
    onSet: (rules: readonly FaultRule[]) => void = () => {},
  ) {
    this.#onSet = onSet;
    this.#random = createRandom(seed ^ 0xfa017);
    this.set(spec);
  }

  /** Replaces all rules; an empty text ends the trouble. Counts of earlier rules stay. */
  set(spec: string | readonly FaultRule[]): void {
    const rules =
      typeof spec === 'string' ? parseFaults(spec) : spec.map((rule, n) => checkRule(rule, n + 1));
    this.#active = rules.map((rule) => ({
      rule,
      seen: 0,
      firings: 0,
      repeated: new Map(),
      random: this.#random,
    }));
    for (const { kind } of rules) this.#fired[kind] ??= 0;
    this.#onSet(rules);
  }

  /** How often each kind acted since the start. A kind that was asked for and never acted shows 0. */
  fired(): Partial<Record<FaultKind, number>> {
    return { ...this.#fired };
  }

  /** What is in store for this request. Every rule counts it, whichever acts in the end. */
  meet(operation: Operation): Trouble {
    const chosen = this.#active.filter((active) => {
      if (!matches(active.rule, operation)) return false;
      active.seen++;
      return this.#selects(active);
    });
    return new Trouble(operation, chosen, (active) => {
      active.firings++;
      this.#fired[active.rule.kind] = (this.#fired[active.rule.kind] ?? 0) + 1;
    });
  }

  #selects({ rule, seen }: ActiveRule): boolean {
    const lucky = rule.p === undefined || this.#random.chance(rule.p);
    return (
      lucky &&
      (rule.nth === undefined || seen === rule.nth) &&
      seen >= (rule.from ?? 1) &&
      seen <= (rule.to ?? Number.POSITIVE_INFINITY) &&
      seen % (rule.every ?? 1) === 0
    );
  }
}

function matches(rule: FaultRule, operation: Operation): boolean {
  const targets: readonly Operation[] = TARGETS[rule.on ?? kindOf(rule.kind).on];
  return targets.includes(operation) && suits(rule.kind, operation);
}

/** The rules that may act on one request. Firings are counted when one really did. */
export class Trouble {
  readonly operation: Operation;
  readonly #rules: readonly ActiveRule[];
  readonly #count: (active: ActiveRule) => void;

  constructor(operation: Operation, rules: readonly ActiveRule[], count: (active: ActiveRule) => void) {
    this.operation = operation;
    this.#rules = rules;
    this.#count = count;
  }

  /** The first rule of the stage, counted as fired: at most one can take the place of an answer. */
  first(stage: Stage): FaultRule | undefined {
    let found: FaultRule | undefined;
    this.each(stage, ({ rule }) => {
      if (found) return false;
      found = rule;
      return true;
    });
    return found;
  }

  /** Every rule of the stage in turn; one whose `act` returns false had nothing to act on and is not counted. */
  each(stage: Stage, act: (active: ActiveRule) => boolean): void {
    for (const active of this.#rules) {
      if (kindOf(active.rule.kind).stage !== stage) continue;
      if (active.firings >= (active.rule.times ?? Number.POSITIVE_INFINITY)) continue;
      if (act(active)) this.#count(active);
    }
  }
}
