import type { Command } from 'commander';
import { register as backup } from './backup.ts';
import { register as config } from './config.ts';
import { register as create } from './create.ts';
import { register as doctor } from './doctor.ts';
import { register as erase } from './erase.ts';
import { register as exportTables } from './export.ts';
import { register as importCsv } from './import.ts';
import { register as outbox } from './outbox.ts';
import { register as query } from './query.ts';
import { register as report } from './report.ts';
import { register as sandbox } from './sandbox.ts';
import { register as search } from './search.ts';
import { register as start } from './start.ts';
import { register as status } from './status.ts';
import { register as sync } from './sync.ts';

/** Adds one command. `stop` is aborted when the person or the system asks the program to end. */
export type Register = (program: Command, stop: AbortSignal) => void;

/** In the order of the help. Each file is light: what a command needs is imported when it runs. */
export const COMMANDS: readonly Register[] = [
  start,
  sync,
  create,
  importCsv,
  outbox,
  search,
  report,
  status,
  doctor,
  query,
  exportTables,
  erase,
  backup,
  sandbox,
  config,
];
