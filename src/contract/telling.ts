import type { Secret } from '../base/secret.ts';

export const RULE_WHATS = [
  ...(['digest', 'new-posts', 'status', 'customer', 'unanswered', 'votes', 'drift', 'trouble'] as const),
];
export const RULE_EVERY = [...(['at-once', 'hourly', 'daily', 'weekly'] as const)];

/** What somebody wants to be told, how often, and where. */
export interface Rule {
  name: string;
  what: (typeof RULE_WHATS)[number];
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
  every: (typeof RULE_EVERY)[number];
  /** When a day, or a week, ends for this rule. */
  at: { weekday: number; hour: number; minute: number };
  zone: string;
  /** Names of channels. */
  to: readonly string[];
}

/** Where messages go. The addresses of Slack and Teams let anybody write there, so they are secrets. */
export type Channel =
  | { name: string; kind: 'mail'; to: readonly string[] }
  | { name: string; kind: 'slack' | 'teams'; url: Secret }
  | { name: string; kind: 'webhook'; url: Secret; key: Secret };

export interface Webhook {
  /** What it is known by in the mirror, in logs and on the page: its name, or a digest of its address. */
  id: string;
  /** A secret, because the addresses that Slack, Discord and Teams give out let anybody write there. */
  url: Secret;
  host: string;
  /** The key of the signature; null for a format that has none. */
  key: Secret | null;
  format: WebhookFormat;
  /** Types, or groups such as `post.*`; null for every type that is an event to people. */
  types: readonly string[] | null;
  /** By name, short name or number; null for all. */
  boards: readonly string[] | null;
  rule: WebhookRule | null;
  personal: boolean;
}

export const WEBHOOK_FORMATS = ['standard', 'slack', 'discord', 'teams'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** `votes>=50`: of all changes, those that make it true. */
export interface WebhookRule {
  field: 'votes' | 'comments' | 'status' | 'board';
  operator: '=' | '!=' | '>' | '>=' | '<' | '<=';
  value: string;
}
