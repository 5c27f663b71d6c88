import { hash } from 'node:crypto';
import type { AcceptedRow } from './csv-file.ts';
import { Occurrences } from './occurrences.ts';

type Keyed = Pick<AcceptedRow, 'key' | 'post'>;

/**
 * What a row is known by, so that importing a file again finds the rows it has already brought. The person's own key
 * when there is one; else the content, told apart from equal rows by its count in the file, starting at 1.
 */
export function sourceKey(row: Keyed, occurrence: number): string {
  return row.key === null ? contentKey(contentDigest(row), occurrence) : `key:${row.key}`;
}

/** Each part goes in with its length, so that text moved from one field to the next is another row. */
function contentDigest({ post }: Keyed): Buffer {
  const { board, title, content, email, full_name } = post;
  const parts = [board, title, content, email, full_name];
  const text = parts.map((part) => (part === null ? '-' : `${part.length}:${part}`)).join('');
  return hash('sha256', text, 'buffer');
}

function contentKey(digest: Buffer, occurrence: number): string {
  return `row:${digest.toString('base64url')}:${occurrence}`;
}

/** Keys for the rows of one file in their order. It remembers them: about 25 MB for a million. */
export function sourceKeys(): (row: Keyed) => string {
  const seen = new Occurrences();
  return (row) => {
    if (row.key !== null) return sourceKey(row, 1);
    const digest = contentDigest(row);
    return contentKey(digest, seen.count(digest));
  };
}
