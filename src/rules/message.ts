/** What a message tells of: ids and numbers, so that a person who is erased meanwhile is in no message. */
export type MessageItem =
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
  items: MessageItem[];
}
