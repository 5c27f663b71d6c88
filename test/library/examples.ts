import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CHECKOUT } from '../support/cli.ts';

/** The example of docs/library.md that imports this part, with the part taken from the checkout. Gives the path of the script. */
export function exampleOf(part: 'client' | 'mirror' | 'changes', folder: string): string {
  const page = readFileSync(join(CHECKOUT, 'docs/library.md'), 'utf8');
  const blocks = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  const code = blocks.find((block) => block.includes(`'feedback-mirror/${part}'`));
  if (code === undefined) throw new Error(`docs/library.md has no example of ${part}`);
  const module = pathToFileURL(join(CHECKOUT, `src/library/${part}.ts`)).href;
  const path = join(folder, `${part}.mjs`);
  writeFileSync(path, code.replace(`feedback-mirror/${part}`, module));
  return path;
}
