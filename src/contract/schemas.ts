import { createRequire } from 'node:module';

type Schemas = typeof import('./entities.ts');

const require = createRequire(import.meta.url);

/** The schemas, loaded when somebody first needs them: plain rows do not, and zod takes 70 ms of a command's start. */
export function schemas(): Schemas {
  return require('./entities.ts') as Schemas;
}
