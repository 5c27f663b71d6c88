import { render } from 'preact';
import type { LiveStats } from '../../http/dashboard/events.ts';
import { ago, counted, withClockTimes } from '../format.ts';
import { mounted } from '../mount.ts';
import { troubleRow } from '../parts/trouble.ts';

type Listener = (stats: LiveStats) => void;

/** A stream that the server has refused is not opened again by the browser itself. */
const REOPEN_MS = 5000;

/**
 * The one event stream of this window. While it is away the frame says so. A hidden window has none: a browser opens six connections
 * to a host at most, and many windows would take them all.
 */
export function startLive(listener: Listener): void {
  let last: LiveStats | null = null;
  let stream: EventSource | null = null;
  const onMessage = ({ data }: MessageEvent<string>): void => {
    last = JSON.parse(data) as LiveStats;
    showStats(last);
    listener(last);
  };
  const onError = (): void => {
    tell('bad', 'The service does not answer');
    if (stream?.readyState === EventSource.CLOSED) setTimeout(listen, REOPEN_MS);
  };
  const listen = (): void => {
    stream?.close();
    stream = document.hidden ? null : new EventSource(mounted('/data/events'));
    stream?.addEventListener('message', onMessage);
    stream?.addEventListener('error', onError);
  };
  listen();
  document.addEventListener('visibilitychange', listen);
  // Ages grow although nothing happens.
  setInterval(() => last && stream?.readyState === EventSource.OPEN && showStats(last), 10_000);
}

function showStats({ updatedAt, isReady, failing, troubles, toDecide, held }: LiveStats): void {
  showTroubles(troubles);
  badge('outbox', toDecide, `${counted(toDecide, 'row')} to decide about`);
  badge('sync', held, `${counted(held, 'deletion')} held`);
  // The banner says what is wrong.
  const isTold = troubles.length > 0;
  const age = updatedAt === null ? 'Nothing is mirrored yet' : `Updated ${ago(updatedAt)}`;
  tell(isReady && !isTold ? 'good' : 'warn', isReady || isTold ? age : withClockTimes(failing ?? 'Starting'));
}

/** On every page. */
function showTroubles(troubles: LiveStats['troubles']): void {
  const place = document.querySelector('.troubles');
  if (!place) return;
  render(troubles.map(troubleRow), place);
}

function badge(name: string, n: number, meaning: string): void {
  const element = document.querySelector<HTMLElement>(`.badge[data-stats="${name}"]`);
  if (!element) return;
  element.hidden = n === 0;
  element.textContent = String(n);
  element.title = meaning;
  element.setAttribute('aria-label', meaning);
}

function tell(state: string, text: string): void {
  const line = document.querySelector<HTMLElement>('[data-stats="updated"]');
  if (!line) return;
  line.dataset.state = state;
  line.textContent = text;
}
