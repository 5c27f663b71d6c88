import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { type LoadInput, loadSettings, type Settings } from '../../config/load.ts';
import { AppError } from '../../src/base/errors.ts';
import { temporaryFolder } from '../support/folder.ts';

const root = temporaryFolder('config');
after(() => rmSync(root, { recursive: true, force: true }));

/** A working folder with the given files. */
export function folder(files: Record<string, string> = {}): string {
  const path = mkdtempSync(join(root, 'cwd-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

const EMPTY = folder();

export function input(part: Partial<LoadInput> = {}): LoadInput {
  return { flags: {}, env: {}, cwd: EMPTY, isTerminal: false, ...part };
}

export function load(part: Partial<LoadInput> = {}): Settings {
  return loadSettings(input(part));
}

/** The problems a wrong set of settings is refused with, one each; none when it is accepted. */
export function problemsOf(part: Partial<LoadInput>): string[] {
  try {
    load(part);
    return [];
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'usage') throw error;
    const [title, ...problems] = error.message.split('\n');
    if (title !== 'wrong settings:') throw error;
    return problems.map((line) => line.trim());
  }
}
