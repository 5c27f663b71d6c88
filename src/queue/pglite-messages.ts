/** What pglite-session.ts and pglite-thread.ts say to each other. */
export interface ThreadOptions {
  folder: string;
}

export interface Question {
  id: number;
  /** Null to close. */
  text: string | null;
  params?: unknown[];
}

export interface Notification {
  channel: string;
  payload: string;
}

export interface Failure {
  id: number;
  message: string;
  /** The program itself has ended, as opposed to an error that PostgreSQL reports. */
  isCrash: boolean;
  /** PostgreSQL's own fields: code, severity, … */
  facts: object;
}

export type Answer = Result | Failure | Notification;

export interface Result {
  id: number;
  rows: unknown[];
  rowCount: number;
}
