/** Every period of the service that is not a setting, in milliseconds. */
export interface Periods {
  /** How often rows of the outbox are looked for through the queue, which also shows that the queue works. */
  tick: number;
  /** How often the outbox is looked at for a change, beside the queue. */
  watch: number;
  /** How often it is seen to that the queue holds what it should. */
  heal: number;
  /** How long a rung row counts as rung. */
  forget: number;
  lock: number;
  probe: number;
  firstPassRetry: number;
  lastPassRetry: number;
  busy: number;
}

export const PERIODS: Periods = {
  tick: 5000,
  watch: 200,
  heal: 15_000,
  forget: 20_000,
  lock: 1000,
  probe: 30_000,
  firstPassRetry: 30_000,
  lastPassRetry: 60_000,
  busy: 2000,
};
