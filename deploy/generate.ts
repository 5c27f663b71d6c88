import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rulesSchema, settingsSchema, sourcesSchema, webhooksSchema } from './editor-schemas.ts';
import { openApiDocument } from './openapi.ts';

/** The files for machines that the package carries, by name. */
export const GENERATED: Record<string, () => object> = {
  'openapi.json': openApiDocument,
  'settings.schema.json': settingsSchema,
  'sources.schema.json': sourcesSchema,
  'webhooks.schema.json': webhooksSchema,
  'rules.schema.json': rulesSchema,
};

export function generated(name: string): string {
  return `${JSON.stringify(GENERATED[name]?.(), null, 2)}\n`;
}

/** `npm run generate`: writes them again. A test compares them with the code. */
if (import.meta.main) {
  const folder = resolve(import.meta.dirname, '../schemas');
  mkdirSync(folder, { recursive: true });
  for (const name of Object.keys(GENERATED)) writeFileSync(join(folder, name), generated(name));
}
