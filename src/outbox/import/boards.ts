import { AppError } from '../../base/errors.ts';
import { type BoardMatch, matchBoard } from '../../text/boards.ts';
import { foldedName } from '../../text/text.ts';
import type { NewRow } from '../decide/types.ts';
import type { ImportReads } from '../store/imports.ts';

/** A board of a file that no known one matches, once for all of its rows. */
export interface UnknownBoard {
  /** The first spelling in the file. */
  board: string;
  /** Other spellings, which the same answer is for. */
  alsoWritten: string[];
  rows: number;
  /** The first line with it. */
  line: number | null;
  suggestions: string[];
}

export interface BoardChoices {
  /** Old name to slug; null leaves its rows out. */
  map: Readonly<Record<string, string | null>>;
  acceptUnknown: boolean;
}

/** Which board each text of a file goes to: what the person said first, then what the boards are called. */
export interface BoardChooser {
  /** For `ReadOptions.chooseBoard`: a text that nothing matches stays as it is, null leaves the row out. */
  choose(text: string): string | null;
  /** What the text matches, where it is unknown; null where a board was found or chosen. */
  unknown(text: string): BoardMatch | null;
}

/** One key for all spellings of a board. A name without letters and digits is its own key. */
function nameKey(text: string): string {
  return foldedName(text) || text;
}

export function boardChooser(
  reads: Pick<ImportReads, 'boards' | 'knowsAllBoards'> | null,
  { map, acceptUnknown }: BoardChoices,
): BoardChooser {
  const [boards, areAll] = [reads?.boards() ?? [], reads?.knowsAllBoards() ?? false];
  const said = new Set(Object.values(map));
  const mapped = new Map(Object.entries(map).map(([name, slug]) => [nameKey(name), slug]));
  const choose = (text: string): { slug: string | null; unknown: BoardMatch | null } => {
    // C++ and C# are the same without their signs.
    const meant = Object.hasOwn(map, text) ? map[text] : mapped.get(nameKey(text));
    if (meant !== undefined) return { slug: meant, unknown: null };
    if (said.has(text)) return { slug: text, unknown: null };
    const found = matchBoard(boards, text, areAll);
    if (found.slug !== null) return { slug: found.slug, unknown: null };
    return { slug: text, unknown: acceptUnknown ? null : found };
  };
  // A file has few boards and many rows.
  const known = new Map<string, ReturnType<typeof choose>>();
  const chosen = (text: string): ReturnType<typeof choose> => {
    const before = known.get(text);
    if (before) return before;
    const made = choose(text);
    if (known.size < 10_000) known.set(text, made);
    return made;
  };
  return { choose: (text) => chosen(text).slug, unknown: (text) => chosen(text).unknown };
}

/** `Old name=board`, one or several of them; nothing after the sign leaves the rows of that board out. */
export function readBoardMap(pairs: readonly string[]): Record<string, string | null> {
  const map: Record<string, string | null> = {};
  for (const pair of pairs) {
    const at = pair.lastIndexOf('=');
    const name = pair.slice(0, at).trim();
    if (at < 1 || name === '')
      throw new AppError('usage', `--board-map "${pair}" is not of the form "Old name=board"`, {
        hint: 'For example: --board-map "Feature Requests=ideas"; "Old name=" leaves its rows out.',
      });
    const target = pair.slice(at + 1).trim() || null;
    // Names that differ in case alone mean one board. C++ and C# are different names.
    const alike = Object.keys(map).find((known) => known.toLowerCase() === name.toLowerCase());
    if (alike !== undefined && map[alike] !== target)
      throw new AppError('usage', `--board-map says two things about "${name}"`);
    map[name] = target;
  }
  return map;
}

/** The boards that a script maps others to are known by slug, name or id too, and one that nobody knows stops it. */
export function knownTargets(
  reads: Pick<ImportReads, 'boards' | 'knowsAllBoards'> | null,
  { map, acceptUnknown }: BoardChoices,
): BoardChoices {
  const [boards, areAll] = [reads?.boards() ?? [], reads?.knowsAllBoards() ?? false];
  const targets = Object.entries(map).map(([name, target]) => {
    if (target === null) return [name, null];
    const { slug, suggestions } = matchBoard(boards, target, areAll);
    if (slug !== null || acceptUnknown) return [name, slug ?? target];
    const perhaps = suggestions.length > 0 ? `, perhaps ${suggestions.join(' or ')}` : '';
    throw new AppError(
      'usage',
      `--board-map "${name}=${target}": no board is known as "${target}"${perhaps}`,
      {
        hint: 'Name a board by its name, its id or the short part of its URL, or use --accept-unknown-boards.',
      },
    );
  });
  return { map: Object.fromEntries(targets), acceptUnknown };
}

/** More are only counted: a file with so many has its columns mixed up. */
const BOARDS_LISTED = 100;
const SPELLINGS_LISTED = 5;

export interface UnknownBoards {
  unknownBoards: UnknownBoard[];
  /** Rows with further unknown boards that are not listed. */
  moreUnknownBoards: number;
}

export interface BoardCollector extends UnknownBoards {
  note(row: Pick<NewRow, 'board' | 'line'>): void;
}

/** Collects the boards of rows that nothing matches, each once, however it is written. */
export function unknownBoards(chooser: BoardChooser): BoardCollector {
  const byName = new Map<string, UnknownBoard>();
  const found: BoardCollector = {
    unknownBoards: [],
    moreUnknownBoards: 0,
    note({ board, line }) {
      const match = chooser.unknown(board);
      if (match === null) return;
      const noted = byName.get(nameKey(board));
      if (noted) noteAgain(noted, board);
      else if (byName.size >= BOARDS_LISTED) found.moreUnknownBoards++;
      else {
        const unknown = { board, alsoWritten: [], rows: 1, line, suggestions: match.suggestions };
        byName.set(nameKey(board), unknown);
        found.unknownBoards.push(unknown);
      }
    },
  };
  return found;
}

function noteAgain(noted: UnknownBoard, board: string): void {
  const { alsoWritten } = noted;
  noted.rows++;
  if (board !== noted.board && !alsoWritten.includes(board) && alsoWritten.length < SPELLINGS_LISTED)
    alsoWritten.push(board);
}

/** Why nothing of a file was imported, and what to do about it. */
export interface ImportRefusal {
  problem: string;
  hint: string;
}

/** A file with an unknown board is refused whole: a person who meant other boards would have to find the posts again. */
export function unknownBoardsRefusal({ unknownBoards: boards }: UnknownBoards): ImportRefusal[] {
  const [first] = boards;
  if (!first) return [];
  const named = boards.slice(0, 10).map(({ board, rows, suggestions: [meant] }) => {
    const perhaps = meant === undefined ? '' : `, perhaps ${meant}`;
    return `"${board}" (${rows === 1 ? '1 row' : `${rows} rows`}${perhaps})`;
  });
  const more = boards.length > 10 ? ` and ${boards.length - 10} more` : '';
  const example = `--board-map "${first.board}=${first.suggestions[0] ?? 'slug'}"`;
  return [
    {
      problem: `no board is known by these names: ${named.join(', ')}${more}`,
      hint: `Say which board each is: ${example} ("${first.board}=" leaves its rows out), --board SLUG for all rows, or --accept-unknown-boards.`,
    },
  ];
}
