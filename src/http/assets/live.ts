import type { Pulse } from '../dashboard/shapes.ts';
import { ago, counted } from './format.ts';

type Listener = (pulse: Pulse) => void;

/**
 * The one stream of this window. It reconnects by itself; while it is away the freshness line says so. A window nobody looks at
 * has none: a browser opens six connections to a host at most, and many windows would take them all.
 */
export function startLive(): { subscribe(listener: Listener, signal: AbortSignal): void } {
  const listeners = new Set<Listener>();
  let last: Pulse | null = null;
  let stream: EventSource | null = null;
  const onPulse = ({ data }: MessageEvent<string>): void => {
    last = JSON.parse(data) as Pulse;
    showPulse(last);
    for (const listener of listeners) listener(last);
  };
  const listen = (): void => {
    stream?.close();
    stream = document.hidden ? null : new EventSource('/data/events');
    stream?.addEventListener('message', onPulse);
    stream?.addEventListener('error', () => tell('bad', 'The service does not answer'));
  };
  listen();
  document.addEventListener('visibilitychange', listen);
  // Ages move on although nothing happens.
  setInterval(() => last && stream?.readyState === EventSource.OPEN && showPulse(last), 10_000);
  return {
    subscribe(listener, signal) {
      listeners.add(listener);
      signal.addEventListener('abort', () => listeners.delete(listener), { once: true });
    },
  };
}

function showPulse({ freshAt, isReady, trouble, waitingForYou, heldBack }: Pulse): void {
  badge('outbox', waitingForYou, `${counted(waitingForYou, 'row')} to decide about`);
  badge('sync', heldBack, `${counted(heldBack, 'deletion')} held back`);
  if (isReady) tell('good', `Fresh as of ${ago(freshAt)}`);
  else tell('warn', trouble ?? 'Getting ready');
}

function badge(name: string, n: number, meaning: string): void {
  const element = document.querySelector<HTMLElement>(`.badge[data-pulse="${name}"]`);
  if (!element) return;
  element.hidden = n === 0;
  element.textContent = String(n);
  element.title = meaning;
  element.setAttribute('aria-label', meaning);
}

function tell(state: string, text: string): void {
  const line = document.querySelector<HTMLElement>('[data-pulse="fresh"]');
  if (!line) return;
  line.dataset.state = state;
  line.textContent = text;
}
