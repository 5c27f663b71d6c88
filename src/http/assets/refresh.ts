import type { PageContext } from './page.ts';

/**
 * Draws a part of the page again whenever the service has news, and every few seconds besides, for ages move on too: one look at a
 * time, and after the last news there is always one more. What fails is tried with the next news; that the service is away, the frame
 * says.
 */
export function onNews(
  { onPulse, signal }: Pick<PageContext, 'onPulse' | 'signal'>,
  draw: () => Promise<void>,
): void {
  let [isBusy, isDue] = [false, false];
  const catchUp = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    while (isDue && !signal.aborted) {
      isDue = false;
      await draw().catch(() => undefined);
    }
    isBusy = false;
  };
  onPulse(() => {
    isDue = true;
    void catchUp();
  });
}
