import { appendFileSync } from 'node:fs';

/** What happened, in its order: on disk at once, so that it is there whatever becomes of the run. */
export interface Journal {
  note(event: string): void;
  readonly path: string;
}

export function openJournal(path: string, began = Date.now()): Journal {
  return {
    path,
    note(event) {
      const seconds = ((Date.now() - began) / 1000).toFixed(2).padStart(8);
      appendFileSync(path, `${seconds}  ${event}\n`);
    },
  };
}
