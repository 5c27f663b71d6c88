import { AppError } from '../../base/errors.ts';
import { foldedName, nearest } from '../../base/text.ts';
import { LAYOUTS, type Layout } from './layouts.ts';
import { dataColumns, FIELDS, type Field, type MappedColumn, type ReadOptions } from './rows.ts';

type Wishes = Pick<ReadOptions, 'map' | 'board'>;

export interface Columns {
  layout: Layout | null;
  mapping: MappedColumn[];
  ignored: string[];
  /** What a person has to say before the file can be read; the first is the most important. */
  unclear: UnclearField[];
}

/** A field that no column, or more than one, could be. */
export interface UnclearField {
  field: Field;
  problem: string;
  hint: string;
  /** Columns that it could be, the likeliest first; names of people are never among those of a public field. */
  proposals: string[];
}

/** An e-mail column must be settled before a name column can be read as that person's name. */
const ORDER: readonly Field[] = ['title', 'content', 'email', 'full_name', 'board', 'key'];
const RANKS = ['exact', 'likely', 'possible'] as const;
type Rank = (typeof RANKS)[number];

/**
 * What other tools and languages call these columns, as `foldedName` spells it. A `likely` name is used when the file has no column by
 * the field's own name; a `possible` one only when nothing better claims the field. `name` is never a title: it may be a person's.
 */
const ALIASES: Readonly<Record<Field, { likely: readonly string[]; possible: readonly string[] }>> = {
  title: {
    likely: [
      ...[
        'subject',
        'headline',
        'idea',
        'ideatitle',
        'summary',
        'request',
        'feature',
        'featurerequest',
        'posttitle',
      ],
      ...[
        'titel',
        'betreff',
        'uberschrift',
        'thema',
        'idee',
        'wunsch',
        'titre',
        'sujet',
        'objet',
        'titulo',
        'asunto',
      ],
      ...['assunto', 'ideia'],
    ],
    possible: [],
  },
  content: {
    likely: [
      ...[
        'description',
        'details',
        'detail',
        'body',
        'text',
        'message',
        'postcontent',
        'beschreibung',
        'inhalt',
      ],
      ...[
        'nachricht',
        'contenu',
        'texte',
        'descripcion',
        'contenido',
        'texto',
        'mensaje',
        'detalles',
        'descricao',
      ],
      ...['conteudo', 'mensagem', 'detalhes'],
    ],
    possible: ['comment', 'feedback', 'notes', 'kommentar', 'commentaire', 'comentario'],
  },
  email: {
    likely: [
      ...[
        'authoremail',
        'useremail',
        'requesteremail',
        'customeremail',
        'creatoremail',
        'emailaddress',
        'mail',
      ],
      ...[
        'emailadresse',
        'mailadresse',
        'courriel',
        'adresseemail',
        'adressemail',
        'correo',
        'correoelectronico',
      ],
      ...['enderecodeemail', 'emaildocliente', 'emaildelcliente'],
    ],
    possible: ['requester'],
  },
  full_name: {
    likely: [
      ...[
        'author',
        'authorname',
        'username',
        'customer',
        'customername',
        'creator',
        'creatorname',
        'requestername',
      ],
      ...[
        'vollstandigername',
        'autor',
        'kunde',
        'kundenname',
        'nomcomplet',
        'auteur',
        'client',
        'nomduclient',
      ],
      ...['nombrecompleto', 'cliente', 'nomecompleto', 'nomedocliente'],
    ],
    // Only beside an e-mail column, see `mapColumns`: a name alone says nothing about a person.
    possible: ['name', 'requester', 'nom', 'nombre', 'nome'],
  },
  board: {
    likely: [
      'category',
      'forum',
      'boardslug',
      'kategorie',
      'categorie',
      'categoria',
      'foro',
      'tablero',
      'quadro',
    ],
    possible: [],
  },
  key: {
    likely: [
      ...['externalid', 'ref', 'reference', 'externalkey', 'ticketid', 'issuekey', 'cardid', 'taskid'],
      ...['referenz', 'kennung', 'identifiant', 'referencia', 'identificador'],
    ],
    possible: ['id'],
  },
};

/** Which column feeds which field: what was asked, then the layout of a known tool, then the field's own name and its aliases. */
export function mapColumns(headers: readonly string[], wishes: Wishes): Columns {
  const names = dataNames(headers);
  const layout = layoutOf(names);
  const used = new Map<Field, MappedColumn>();
  for (const column of askedColumns(headers, wishes)) used.set(column.field, column);
  const taken = new Set([...used.values()].map(({ index }) => index));
  const isLeftOut = (field: Field): boolean =>
    wishes.map?.[field] === null || (field === 'board' && wishes.board !== undefined);
  const isWanted = (field: Field): boolean => !used.has(field) && !isLeftOut(field);
  const take = (field: Field, index: number, how: MappedColumn['how']): void => {
    taken.add(index);
    used.set(field, { field, header: headers[index] ?? '', index, how });
  };
  for (const field of layout ? ORDER.filter(isWanted) : []) {
    const index =
      (layout?.columns[field] ?? []).map((name) => names.indexOf(name)).find((at) => at >= 0) ?? -1;
    if (index >= 0 && !taken.has(index)) take(field, index, 'layout');
  }
  const unclear: UnclearField[] = [];
  for (const rank of layout ? RANKS.slice(0, 1) : RANKS) {
    for (const field of ORDER.filter(isWanted)) {
      if (rank === 'possible' && field === 'full_name' && !used.has('email')) continue;
      if (unclear.some((each) => each.field === field)) continue;
      const free = claimants(names, field, rank).filter((index) => !taken.has(index));
      if (free.length > 1) unclear.push(several(field, free, headers));
      else if (free[0] !== undefined) take(field, free[0], rank === 'exact' ? 'exact' : 'alias');
    }
  }
  const mapping = FIELDS.flatMap((field) => used.get(field) ?? []);
  unclear.push(
    ...missing(headers, taken, new Set([...used.keys(), ...unclear.map(({ field }) => field)]), wishes),
  );
  return { layout, mapping, ignored: unused(headers, taken), unclear };
}

function layoutOf(names: readonly string[]): Layout | null {
  const isThere = (name: string): boolean => names.includes(name);
  return LAYOUTS.find(({ has, hasNot = [] }) => has.every(isThere) && !hasNot.some(isThere)) ?? null;
}

/** How many fields the headers seem to have: the right delimiter is the one that makes sense of most. */
export function countClaims(headers: readonly string[], map: ReadOptions['map']): number {
  const names = dataNames(headers);
  const asked = Object.values(map ?? {}).filter((header) => names.includes(foldedName(header ?? '')));
  const known = layoutOf(names)?.has.length ?? 0;
  const claimed = FIELDS.filter((field) => RANKS.some((rank) => claimants(names, field, rank).length > 0));
  return asked.length + claimed.length + known;
}

/** The result columns of our own files are no candidates. */
function dataNames(headers: readonly string[]): string[] {
  return headers.slice(0, dataColumns(headers)).map(foldedName);
}

function claimants(names: readonly string[], field: Field, rank: Rank): number[] {
  const claims = rank === 'exact' ? [foldedName(field)] : ALIASES[field][rank];
  return names.flatMap((name, index) => (claims.includes(name) ? [index] : []));
}

function askedColumns(headers: readonly string[], { map = {}, board }: Wishes): MappedColumn[] {
  return Object.entries(map).flatMap(([name, header]) => {
    if (header === undefined || header === null) return [];
    const field = FIELDS.find((candidate) => foldedName(candidate) === foldedName(name));
    if (!field)
      throw unknownName(`--map ${name}=${header}: there is no field`, name, FIELDS, 'The fields are');
    if (field === 'board' && board !== undefined) {
      throw new AppError('usage', '--board and --map board=... contradict each other: give one of them');
    }
    const index = askedColumn(headers, header, field);
    return [{ field, header: headers[index] ?? '', index, how: 'asked' as const }];
  });
}

function askedColumn(headers: readonly string[], asked: string, field: Field): number {
  const exact = headers.flatMap((header, i) => (header === asked ? [i] : []));
  const alike = headers.flatMap((header, i) => (foldedName(header) === foldedName(asked) ? [i] : []));
  const [index, second] = exact.length > 0 ? exact : alike;
  if (index !== undefined && second === undefined) return index;
  if (index !== undefined) {
    const { problem, hint } = several(field, exact.length > 0 ? exact : alike, headers);
    throw new AppError('usage', problem, { hint });
  }
  throw unknownName(
    `--map ${field}=${asked}: the file has no column`,
    asked,
    headers,
    'The columns of the file are',
  );
}

function unknownName(start: string, name: string, known: readonly string[], list: string): AppError {
  const near = nearest(name, known);
  const meant = near === null ? '' : `; did you mean "${near}"?`;
  return new AppError('usage', `${start} "${name}"${meant}`, { hint: `${list} ${quoted(known)}.` });
}

/** Of two columns that could both be meant neither is guessed. */
function several(field: Field, found: readonly number[], headers: readonly string[]): UnclearField {
  const proposals = found.map((index) => headers[index] ?? '');
  const positions = found.map((index) => index + 1).join(' and ');
  const isSame = new Set(proposals.map(foldedName)).size === 1;
  return {
    field,
    proposals,
    problem: isSame
      ? `columns ${positions} have the same name, ${quoted(proposals.slice(0, 1))}, and could both be the ${field}`
      : `columns ${positions}, ${quoted(proposals)}, could both be the ${field}`,
    hint: isSame
      ? 'Rename one of them in the file.'
      : `Say which one it is: --map ${field}=${quoted(proposals.slice(0, 1))}`,
  };
}

function missing(
  headers: readonly string[],
  taken: ReadonlySet<number>,
  settled: ReadonlySet<Field>,
  { board }: Wishes,
): UnclearField[] {
  if (board !== undefined && board.trim() === '') throw new AppError('usage', '--board is blank');
  const found = `The columns of the file are ${quoted(headers)}.`;
  const unclear: UnclearField[] = [];
  if (!settled.has('title')) {
    const proposals = publicTexts(headers, taken);
    const perhaps = proposals.length > 0 ? quoted(proposals.slice(0, 1)) : 'Header';
    const hint = `${found} Name the right one: --map title=${perhaps}`;
    unclear.push({ field: 'title', proposals, problem: 'the file has no title column', hint });
  }
  if (board === undefined && !settled.has('board')) {
    const problem = 'the file has no board column, and no board was given for all rows';
    const hint = `${found} Give one board for all rows, --board SLUG, or name the column: --map board=Header`;
    unclear.push({ field: 'board', proposals: [], problem, hint });
  }
  return unclear;
}

/** What no title is: people, numbers, dates and labels. */
const NO_TITLE =
  /mail|phone|telefon|author|autor|creator|user|customer|client|kunde|assign|owner|member|firstname|lastname|surname|vorname|nachname|prenom|apellido|company|vote|count|score|status|state|date|datum|created|updated|time|tag|label|url|link|^id$|priority|board|category/;

/** Columns that could be a title. A column of names comes last, and only where the file has no people. */
function publicTexts(headers: readonly string[], taken: ReadonlySet<number>): string[] {
  const names = dataNames(headers);
  const free = names.flatMap((name, i) => (taken.has(i) || name === '' || NO_TITLE.test(name) ? [] : [i]));
  const isName = (i: number): boolean => /^(full|nach|)name$|^nom$|^nombre$|^nome$/.test(names[i] ?? '');
  const hasPeople = names.some((name) => /mail|courriel|correo|phone/.test(name));
  const proposed = [...free.filter((i) => !isName(i)), ...(hasPeople ? [] : free.filter(isName))];
  return proposed.map((i) => headers[i] ?? '');
}

function unused(headers: readonly string[], taken: Set<number>): string[] {
  return headers
    .slice(0, dataColumns(headers))
    .flatMap((header, i) => (taken.has(i) ? [] : [header.trim() === '' ? `(column ${i + 1})` : header]));
}

function quoted(names: readonly string[]): string {
  const shown = names.slice(0, 30).map((name) => `"${name}"`);
  if (names.length > shown.length) shown.push(`and ${names.length - shown.length} more`);
  return shown.join(', ');
}
