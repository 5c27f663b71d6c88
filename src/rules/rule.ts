import type { Secret } from '../base/secret.ts';

/** What somebody wants to be told, how often, and where. */
export interface Rule {
  name: string;
  what: What;
  /** Of `digest`: one message over all sources; null for the source itself. */
  sources: 'all' | null;
  /** By name, short name or number; null for all. */
  boards: readonly string[] | null;
  /** Of `status`: only changes to one of these; null for all. */
  statuses: readonly string[] | null;
  /** Of `customer`: such as `plan=Pro`. */
  segment: string | null;
  /** Of `unanswered`. */
  days: number;
  every: Every;
  /** When a day, or a week, ends for this rule. */
  at: { weekday: number; hour: number; minute: number };
  zone: string;
  /** Names of channels. */
  to: readonly string[];
}

export const WHATS = [
  'digest',
  'new-posts',
  'status',
  'customer',
  'unanswered',
  'votes',
  'drift',
  'trouble',
] as const;
export type What = (typeof WHATS)[number];

export const EVERIES = ['at-once', 'hourly', 'daily', 'weekly'] as const;
export type Every = (typeof EVERIES)[number];

/** Where messages go. The addresses of Slack and Teams let anybody write there, so they are secrets. */
export type Channel =
  | { name: string; kind: 'mail'; to: readonly string[] }
  | { name: string; kind: 'slack' | 'teams'; url: Secret }
  | { name: string; kind: 'webhook'; url: Secret; key: Secret };

/** What a message tells of: ids and numbers, so that a person who is erased meanwhile is in no message. */
export type Item =
  | { kind: 'change'; n: number }
  | { kind: 'post'; id: number }
  | { kind: 'board'; id: number; votes: number; usual: number; from: string; to: string }
  | { kind: 'drift'; n: number };

export interface RuleMessage {
  rule: string;
  /** One for each period of the rule. */
  key: string;
  madeAt: string;
  /** The period that it tells of. */
  since: string;
  until: string;
  items: Item[];
}
