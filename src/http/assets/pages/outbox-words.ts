import type { OutboxState } from '../../../store/outbox/types.ts';
import { h } from '../dom.ts';

interface Words {
  name: string;
  tone: 'good' | 'warn' | 'bad' | null;
  /** What it means for the rows in it, as a sentence. */
  meaning: string;
}

/** In the order in which people want to see them: what waits for them first. */
export const STATES: Record<OutboxState, Words> = {
  uncertain: {
    name: 'Uncertain',
    tone: 'warn',
    meaning: 'Nobody can tell by reading whether these posts were made. They wait for your decision.',
  },
  ready: { name: 'Ready', tone: null, meaning: 'These wait for their turn to be sent.' },
  sending: { name: 'Sending', tone: null, meaning: 'These are on the wire just now.' },
  ambiguous: {
    name: 'Ambiguous',
    tone: 'warn',
    meaning: 'The answer was lost. These are looked for upstream before anything is sent again.',
  },
  confirmed: { name: 'Confirmed', tone: 'good', meaning: 'These are posts upstream.' },
  rejected: { name: 'Rejected', tone: 'bad', meaning: 'The upstream refused these; each says why.' },
  cancelled: { name: 'Cancelled', tone: null, meaning: 'Somebody decided not to send these.' },
};

export function stateTag(state: OutboxState): HTMLElement {
  const { name, tone } = STATES[state];
  return h('span', { class: 'tag', 'data-tone': tone }, name);
}
