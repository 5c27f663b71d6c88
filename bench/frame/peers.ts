import { findProgram } from '../../test/support/programs.ts';
import type { Series } from './set.ts';

/** In the place of measurements of a peer this machine does not have. Its figure is not a number. */
export function missingPeer(name: string, packages: string, unit: Series['unit']): Series {
  return { name, command: `not installed: apt-get install ${packages}`, unit, values: [] };
}

/** The programs that are not there, as the packages of the same names. */
export function missing(...programs: string[]): string {
  return programs.filter((program) => findProgram(program) === null).join(' ');
}
