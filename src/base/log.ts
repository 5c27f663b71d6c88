import pino, { type DestinationStream } from 'pino';
import type { Secret } from './secret.ts';

/** A line has a stable name for programs and a sentence for people; the sentence alone must tell what happened. */
type Log = (facts: { event: string; [fact: string]: unknown }, sentence: string) => void;

export type Logger = Record<'debug' | 'info' | 'warn' | 'error', Log>;

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

interface LogSettings {
  level: string;
  format: 'pretty' | 'json';
  /** What must not appear in any line, asked for each line because a token can be replaced while we run. */
  secrets: () => readonly Secret[];
  /** The name of one of several sources. Every line has it. */
  source?: string | null;
  /** Defaults to stderr: stdout is for data. */
  destination?: DestinationStream;
}

/**
 * pino's own redaction knows paths, not values: it misses error properties, deep nesting and message text.
 * So the finished line is masked instead, which no shape of log call can get around.
 */
export function createLogger({ level, format, secrets, source, destination }: LogSettings): Logger {
  const sink = destination ?? stderr();
  const out = format === 'pretty' ? prettied(sink, !destination && hasColours()) : sink;
  const streamWrite = (line: string): string => secrets().reduce((text, secret) => secret.mask(text), line);
  const base = source ? { source } : null;
  return pino({ level, base, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite } }, out);
}

/** How much waits for a log that cannot be written. */
const UNWRITTEN_BYTES = 1024 * 1024;

/** A log whose disk is full gets its lines later, or never; a service does not end for that. */
function stderr(): DestinationStream {
  const sink = pino.destination({ dest: 2, sync: true, maxLength: UNWRITTEN_BYTES });
  sink.on('error', () => undefined);
  return sink;
}

const LABELS: Record<number, [label: string, colour: number]> = {
  10: ['TRACE', 90],
  20: ['DEBUG', 34],
  30: ['INFO', 32],
  40: ['WARN', 33],
  50: ['ERROR', 31],
};
const INFO = 30;

interface Line {
  level: number;
  time: string;
  msg: string;
  event: string;
  source?: string;
  err?: { stack?: string; type?: string; message?: string };
}

/** A line for people. What goes well is said in one sentence; beside trouble stand the ids and numbers, and below it the stack. */
function prettied(sink: DestinationStream, colorize: boolean): DestinationStream {
  const tinted = (text: string, colour: number): string =>
    colorize ? `\u001b[${colour}m${text}\u001b[39m` : text;
  return {
    write(line) {
      const { level, time, msg: said, event: _, source, err, ...facts } = JSON.parse(line) as Line;
      const msg = source === undefined || said.startsWith(source) ? said : `${source}: ${said}`;
      const [label, colour] = LABELS[level] ?? [String(level), 39];
      const { stack, type: _type, message: _message, ...properties } = err ?? {};
      const shown = { ...facts, ...(Object.keys(properties).length > 0 && { err: properties }) };
      const beside = level === INFO || Object.keys(shown).length === 0 ? '' : ` ${JSON.stringify(shown)}`;
      const below = stack ? `\n    ${stack.replaceAll('\n', '\n    ')}` : '';
      const clock = new Date(time).toTimeString().slice(0, 8);
      sink.write(`[${clock}] ${tinted(label, colour)}: ${tinted(msg, 36)}${beside}${below}\n`);
    },
  };
}

/** Escape codes are for terminals, not for files and pipes; NO_COLOR is respected. */
function hasColours(): boolean {
  return process.stderr.isTTY && process.stderr.hasColors();
}
