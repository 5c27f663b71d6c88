import { isUtf8 } from 'node:buffer';
import { tmpdir } from 'node:os';
import { AppError } from '../base/errors.ts';
import { closing } from './context.ts';

/** A list of customers is read as a whole; one that is larger is some other file. */
const MOST_BYTES = 64 * 1024 * 1024;

/** A text file as a string, whichever encoding its mark names; what is no text is refused with a sentence about it. */
export async function readTextFile(path: string): Promise<string> {
  const [{ openInput }, { openText }] = await Promise.all([
    import('../outbox/import/input.ts'),
    import('../outbox/import/csv/text.ts'),
  ]);
  await using input = closing(await openInput({ path, stdin: () => process.stdin, spoolIn: tmpdir() }));
  const { pieces } = await openText(input.read, {});
  const read: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > MOST_BYTES) throw new AppError('usage', `${path} is larger than 64 MiB`);
    read.push(piece);
  }
  const bytes = Buffer.concat(read);
  if (isUtf8(bytes)) return bytes.toString();
  throw new AppError('usage', `${path} is not UTF-8 text`, { hint: 'Save it as "CSV UTF-8".' });
}
