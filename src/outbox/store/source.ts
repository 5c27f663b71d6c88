import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import { emailKey } from '../../text/email.ts';
import {
  canRevive,
  hashesOf,
  isErasedFrom,
  isKeyless,
  isOtherForm,
  isPadded,
  isSamePost,
  isSameText,
  keyNumber,
  type SameBoard,
  spellingOf,
  wordForm,
} from '../decide/identity.ts';
import type { FileMatches, NewRow, PostText, StoredRow } from '../decide/types.ts';

export function newFileMatches({ hasKeys, tools }: Pick<FileMatches, 'hasKeys' | 'tools'>): FileMatches {
  const ids = new Set<number>();
  return { passed: new Map(), hasKeys, tools, has: (id) => ids.has(id), add: (id) => void ids.add(id) };
}

/** A file may repeat a row ten thousand times. With more matches than this, the rows that match already are skipped in one step. */
const FEW = 8;

/** Finds the row of the outbox that came from the same source row. */
export interface SourceReader {
  (row: NewRow): StoredRow | null;
  /** Whether it says the same. A row with the same key may have other words, of the file or of a person who edited it. */
  isSame(found: StoredRow, row: NewRow): boolean;
  /** A row with these words whose key differs from this one in leading zeros alone, which a spreadsheet takes away; null where the row is known. */
  zeroesApart(row: NewRow): StoredRow | null;
}

const IS_IMPORTED = "(source_key LIKE 'row:%' OR source_key LIKE 'key:%')";

/** Looks up by key, by former keys, by words and by first words what `decide/identity.ts` compares. */
export function sourceReader(db: Db): SourceReader {
  const byKey = db.prepare<[string], StoredRow>('SELECT * FROM outbox WHERE source_key = ?');
  const otherKeys = db.prepare<[string, string], StoredRow>(`
    SELECT * FROM outbox WHERE content_hash = ? AND source_key <> ? AND source_key LIKE 'key:%' ORDER BY id`);
  const anyPadded = db.prepare(
    "SELECT 1 FROM outbox WHERE source_key >= 'key:0' AND source_key < 'key:1' LIMIT 1",
  );
  const { isSameBoard, saysSame } = comparison(db);
  const { alike, mended } = wordReader(db, isSameBoard);
  const named = (row: NewRow): StoredRow | undefined => {
    const found = byKey.get(row.source_key);
    return found && isKeyless(row) && row.fileMatches?.has(found.id) ? undefined : found;
  };
  const former = (row: NewRow): StoredRow | undefined =>
    row.former_keys?.flatMap((key) => byKey.get(key) ?? []).find((found) => saysSame(found, row));
  const known = (row: NewRow): StoredRow | null => {
    // A file of cancelled rows means those, and not others that say the same.
    const revived = row.wasCancelled && isKeyless(row) ? alike(row, true) : undefined;
    return revived ?? named(row) ?? former(row) ?? alike(row) ?? mended(row) ?? null;
  };
  const find = (row: NewRow): StoredRow | null => {
    const found = known(row);
    if (found) row.fileMatches?.add(found.id);
    return found;
  };
  const zeroesApart = (row: NewRow): StoredRow | null => {
    const number = keyNumber(row);
    if (number === null || !(isPadded(row) || anyPadded.get())) return null;
    const rows = hashesOf(row).flatMap((words) => otherKeys.all(words, row.source_key));
    const isMeant = (each: StoredRow): boolean =>
      keyNumber(each) === number && !row.fileMatches?.has(each.id) && isSamePost(each, row, isSameBoard);
    const found = rows.find(isMeant);
    return found && !known(row) ? found : null;
  };
  return Object.assign(find, {
    zeroesApart,
    isSame: (found: StoredRow, row: NewRow) => found.source_key !== row.source_key || saysSame(found, row),
  });
}

/** Compares rows with those of the outbox, by the boards that the mirror knows and by the words before the first edit. */
function comparison(db: Db) {
  const firstEdit = scalar(db)<[number], string>(
    'SELECT before FROM outbox_edits WHERE outbox_id = ? AND n = 1',
  );
  const boardIds = scalar(db)<[string, string], number>(`
    SELECT id FROM boards WHERE slug = ? UNION SELECT board_id FROM former_board_slugs WHERE slug = ?`);
  const isSameBoard: SameBoard = (a, b) => {
    const ids = boardIds.all(a, a);
    return ids.length > 0 && boardIds.all(b, b).some((id) => ids.includes(id));
  };
  const saysSame = (found: StoredRow, row: NewRow): boolean => {
    if (found.erased_at !== null || isKeyless(found) || isSameText(found, row, isSameBoard)) return true;
    const before = firstEdit.get(found.id);
    return before !== undefined && isSameText(JSON.parse(before) as PostText, row, isSameBoard);
  };
  return { isSameBoard, saysSame };
}

/** Finds rows by their words: those of now, and those before the first edit. */
function wordReader(db: Db, isSameBoard: SameBoard) {
  const byWords = db.prepare<[string, number], StoredRow>(`
    SELECT * FROM outbox WHERE content_hash = ? AND id > ? AND ${IS_IMPORTED} ORDER BY id`);
  // Most rows of a file say what no other does: asking takes a fifth of the time of beginning to go through those that do.
  const isSaid = db.prepare('SELECT 1 FROM outbox WHERE content_hash = ?');
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const edited = db.prepare<[], { id: number; before: string }>(`
    SELECT e.outbox_id AS id, e.before FROM outbox_edits e JOIN outbox o ON o.id = e.outbox_id
     WHERE e.n = 1 AND ${IS_IMPORTED} ORDER BY e.outbox_id`);
  const firstWords = (): { id: number; post: PostText }[] =>
    edited.all().map(({ id, before }) => ({ id, post: JSON.parse(before) as PostText }));
  const alike = (row: NewRow, isRevived = false): StoredRow | undefined => {
    for (const words of hashesOf(row)) {
      const found = isSaid.get(words) ? alikeIn(words, row, isRevived) : undefined;
      if (found) return found;
    }
    return undefined;
  };
  const alikeIn = (words: string, row: NewRow, isRevived: boolean): StoredRow | undefined => {
    const { fileMatches, email, source_key } = row;
    if (!fileMatches) return undefined;
    const spelling = `${isKeyless(row) ? spellingOf(source_key) : email && emailKey(email)} ${words}`;
    const isMeant = (each: StoredRow): boolean =>
      isRevived ? canRevive(each, row) : isOtherForm(each, row, fileMatches);
    const said = `${spelling} ${isRevived}`;
    let last = fileMatches.passed.get(said) ?? 0;
    let [found, passed]: [StoredRow | undefined, number] = [undefined, 0];
    for (const each of byWords.iterate(words, last)) {
      last = each.id;
      if (
        isMeant(each) &&
        !fileMatches.has(each.id) &&
        (isSamePost(each, row, isSameBoard) || isErasedFrom(each, row))
      ) {
        found = each;
        break;
      }
      passed++;
    }
    if (passed > FEW) fileMatches.passed.set(said, last);
    return found;
  };
  const mended = (row: NewRow): StoredRow | undefined => {
    const { fileMatches } = row;
    if (!fileMatches) return undefined;
    fileMatches.mended ??= Map.groupBy(firstWords(), ({ post }) => wordForm(post.title));
    return fileMatches.mended
      .get(wordForm(row.title))
      ?.filter(({ id, post }) => !fileMatches.has(id) && isSamePost(post, row, isSameBoard))
      .flatMap(({ id }) => byId.get(id) ?? [])
      .find((each) => isOtherForm(each, row, fileMatches));
  };
  return { alike, mended };
}
