import { createRequire } from 'node:module';
import pino, { type DestinationStream } from 'pino';
import type { Secret } from './secret.ts';

/** A line has a stable name for programs and a sentence for people; the sentence alone must tell what happened. */
type Log = (facts: { event: string; [fact: string]: unknown }, sentence: string) => void;

export type Logger = Record<'debug' | 'info' | 'warn' | 'error', Log>;

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

const require = createRequire(import.meta.url);

export interface LogSettings {
  level: string;
  format: 'pretty' | 'json';
  /** What must not appear in any line, asked anew for each line because a token can be replaced while we run. */
  secrets: () => readonly Secret[];
  /** Defaults to stderr: stdout is for data. */
  destination?: DestinationStream;
}

/**
 * pino's own redaction knows paths, not values: it misses error properties, deep nesting and message text.
 * So the finished line is masked instead, which no shape of log call can get around.
 */
export function createLogger({ level, format, secrets, destination }: LogSettings): Logger {
  const sink = destination ?? stderr();
  const out = format === 'pretty' ? prettied(sink, !destination && hasColours()) : sink;
  const streamWrite = (line: string): string => secrets().reduce((text, secret) => secret.mask(text), line);
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite } }, out);
}

/** How much waits for a log that cannot be written. */
const UNWRITTEN_BYTES = 1024 * 1024;

/** A log whose disk is full gets its lines later, or never; a service does not end for that. */
function stderr(): DestinationStream {
  const sink = pino.destination({ dest: 2, sync: true, maxLength: UNWRITTEN_BYTES });
  sink.on('error', () => undefined);
  return sink;
}

const INFO = '{"level":30,';

/** Line by line and at once: pino-pretty's own stream could still hold the last lines when the process ends. */
function prettied(sink: DestinationStream, colorize: boolean): DestinationStream {
  // Loaded for terminals only: that takes a twentieth of a command's start.
  const { prettyFactory } = require('pino-pretty') as typeof import('pino-pretty');
  const shared = { colorize, ignore: 'event', translateTime: 'SYS:HH:MM:ss', singleLine: true };
  const [plain, whole] = [prettyFactory({ ...shared, hideObject: true }), prettyFactory(shared)];
  return {
    write(line) {
      // What goes well is said in one sentence; beside trouble stand the ids and numbers.
      sink.write(line.startsWith(INFO) ? `${plain(line).trimEnd()}\n` : whole(line));
    },
  };
}

/** Escape codes are for terminals, not for files and pipes; NO_COLOR is respected. */
function hasColours(): boolean {
  return process.stderr.isTTY && process.stderr.hasColors();
}
