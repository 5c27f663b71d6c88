import { createRequire } from 'node:module';
import type { LineCounter, Node, Pair, YAMLMap } from 'yaml';

/** `sources.yaml` as it is written: names and texts, each with its line. What they mean is in `sources.ts`. */
export interface SourcesFile {
  defaults: Map<string, SourceField>;
  sources: Map<string, { line: number; fields: Map<string, SourceField> }>;
}

export interface SourceField {
  text: string;
  line: number;
}

/** What is wrong in the file, and where. */
export interface Problem {
  line: number;
  text: string;
}

const NAME = /^[a-z0-9-]{1,40}$/;
export const NAME_PATTERN = NAME.source;
export const VARIABLE = '\\$\\{([A-Za-z_][A-Za-z0-9_]*)\\}';

type Lookup = (name: string) => string | undefined;

/** Reads the whole file and notes every problem on the way; `lookup` tells what `${NAME}` is. */
export function parseSourceFile(text: string, lookup: Lookup): { file: SourcesFile; problems: Problem[] } {
  const yaml = loadYaml();
  const lines = new yaml.LineCounter();
  // No pretty errors: they quote the line, and it may hold a token.
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const reader = createReader(yaml, lines, lookup);
  const file: SourcesFile = { defaults: new Map(), sources: new Map() };
  for (const { pos, message } of [...document.errors, ...document.warnings])
    reader.note(lines.linePos(pos[0]).line, `this is not YAML: ${message}`);
  if (reader.problems.length > 0) return { file, problems: reader.problems };
  const top = reader.entries(document.contents, 'the file');
  for (const { name, line, value } of top)
    if (name === 'defaults') file.defaults = reader.fields(value, 'defaults');
    else if (name === 'sources') readSources(reader, value, file.sources);
    else reader.note(line, `there is no "${name}" here, only "defaults" and "sources"`);
  if (file.sources.size === 0 && reader.problems.length === 0)
    reader.note(
      1,
      'the file names no source: write "sources:" and below it a name with its base_url and token',
    );
  return { file, problems: reader.problems };
}

function readSources(reader: Reader, node: Node | null, sources: SourcesFile['sources']): void {
  for (const { name, line, value } of reader.entries(node, 'sources')) {
    if (NAME.test(name)) sources.set(name, { line, fields: reader.fields(value, name) });
    else reader.note(line, `"${name}" is no name of a source: use 1 to 40 small letters, digits and hyphens`);
  }
}

interface Entry {
  name: string;
  line: number;
  value: Node | null;
}

interface Reader {
  problems: Problem[];
  note(line: number, text: string): void;
  entries(node: Node | null, what: string): Entry[];
  fields(node: Node | null, what: string): Map<string, SourceField>;
}

function createReader(yaml: Yaml, lines: LineCounter, lookup: Lookup): Reader {
  const problems: Problem[] = [];
  const note = (line: number, text: string): void => void problems.push({ line, text });
  const lineOf = (node: unknown): number =>
    yaml.isNode(node) && node.range ? lines.linePos(node.range[0]).line : 1;
  const entries = (node: Node | null, what: string): Entry[] => {
    if (!yaml.isMap(node)) {
      note(lineOf(node), `${what} must be a list of names, each with what belongs to it below it`);
      return [];
    }
    return (node as YAMLMap<Node, Node | null>).items.map(({ key, value }: Pair<Node, Node | null>) => ({
      name: yaml.isScalar(key) ? String(key.source ?? key.value) : '',
      line: lineOf(key),
      value,
    }));
  };
  const expanded = (line: number, what: string, text: string): string =>
    text.replaceAll(new RegExp(VARIABLE, 'g'), (whole, name: string) => {
      const value = lookup(name);
      if (!value) note(line, `${what}: ${whole} is not set: set it in the environment or in .env`);
      return value ?? '';
    });
  const fields = (node: Node | null, what: string): Map<string, SourceField> => {
    const found = new Map<string, SourceField>();
    for (const { name, line, value } of entries(node, what)) {
      const scalar = yaml.isScalar(value) ? value : null;
      if (scalar === null || scalar.value === null || typeof scalar.value === 'object')
        note(line, `${what}: "${name}" must be one text or number`);
      else
        found.set(name, {
          line,
          text: expanded(line, `${what}: ${name}`, String(scalar.source ?? scalar.value)),
        });
    }
    return found;
  };
  return { problems, note, entries, fields };
}

type Yaml = typeof import('yaml');

/** Only where there is such a file: most commands need no YAML. */
export function loadYaml(): Yaml {
  const load = createRequire(import.meta.url) as (name: string) => Yaml;
  return load('yaml');
}
