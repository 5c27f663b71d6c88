import { AppError } from '../base/errors.ts';
import type { FileFacts, ImportRequest } from '../outbox/import/import.ts';
import type { Context } from './context.ts';
import type { Progress } from './progress.ts';

/** A request that shows what goes on, and remembers how the file was read. */
export interface Request extends ImportRequest {
  facts(): (FileFacts & { board: string | null }) | null;
}

/** The mapping is said before the bar begins, which it would break. */
export function requestOf(
  context: Context,
  asked: Pick<ImportRequest, 'input' | 'map' | 'board'>,
  progress: Progress,
  { mappingText }: typeof import('./import-text.ts'),
): Request {
  const { input, board } = asked;
  let facts: FileFacts | null = null;
  let move: ReturnType<Progress['start']> | undefined;
  let [bytes, rows] = [0, 0];
  const show = (): void => move?.(input.bytes === null ? rows : bytes, { rows });
  return {
    ...asked,
    signal: context.signal,
    facts: () => facts && { board: board ?? null, ...facts },
    onFile(found) {
      facts = found;
      if (!context.json) context.say(mappingText(found, board));
      move = progress.start({ name: 'reading', total: input.bytes ?? 0, text: '{rows} rows' });
    },
    onBytes(n) {
      bytes = n;
      show();
    },
    onRows(n) {
      rows = n;
      show();
    },
  };
}

/** `title=Wish`: the header may hold further equals signs. */
export function readMap(pairs: readonly string[]): Record<string, string> {
  const map: Record<string, string> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const [field, header] = [pair.slice(0, at).trim(), pair.slice(at + 1)];
    if (at < 1 || header.trim() === '')
      throw new AppError('usage', `--map "${pair}" is not of the form field=Header`, {
        hint: 'For example: --map title=Subject',
      });
    if (Object.hasOwn(map, field)) throw new AppError('usage', `--map names the field ${field} twice`);
    map[field] = header;
  }
  return map;
}
