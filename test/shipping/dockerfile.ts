import { readFileSync } from 'node:fs';

export interface Instruction {
  name: string;
  /** Everything behind the name, continued lines joined. */
  text: string;
}

/** The instructions of a Dockerfile in order, as far as ours uses the language. */
export function readDockerfile(path: string): Instruction[] {
  return readFileSync(path, 'utf8')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => /^([A-Z]+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, name = '', text = '']) => ({ name, text }));
}

/** The words of a CMD or HEALTHCHECK in its exec form. */
export function execForm(text: string): string[] {
  return JSON.parse(text.slice(text.indexOf('['))) as string[];
}

export interface Copy {
  /** The stage it copies from; null for the build context. */
  from: string | null;
  sources: string[];
  target: string;
}

export function copyOf(text: string): Copy {
  const words = text.split(/\s+/);
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length) ?? null;
  const paths = words.filter((word) => !word.startsWith('--'));
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
}

/** What `.dockerignore` lets into the build context; ours forbids everything and then names what may pass. */
export function allowedInContext(path: string): string[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  if (lines[0] !== '*') throw new Error('.dockerignore is expected to begin by leaving everything out');
  return lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
}
