/** Below the first combining mark every text is already in its normal form. */
const COMPOSABLE = /[\u0300-\uffff]/;

/**
 * What is left when mark-up, escaping and white space are taken away: texts with the same normalized text count as the same, word for
 * word. One form for everything, because then two rows that match one post always match each other, which the content hash relies on.
 */
export function normalizedText(text: string): string {
  const plain = withoutMarkup(text);
  return (COMPOSABLE.test(plain) ? plain.normalize('NFC') : plain).replace(/\s+/g, '');
}

/** So many characters tell one text from another. */
const LONGEST = 20_000;

/** A text in small letters, without markup, targets of links, shortcodes of emoji and signs that are not seen. */
export function plainText(text: string): string {
  return withoutMarkup(text.slice(0, LONGEST))
    .replace(/!?\[([^\]]*)\]\([^)]*(?:\)|$)/g, '$1 ')
    .replace(/:[a-z][a-z0-9_+-]*:/g, ' ')
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFC')
    .replace(/[\p{Me}\p{Cf}\p{Variation_Selector}]/gu, '');
}

/** Real texts are escaped at most this often. A hostile text could be escaped a megabyte deep. */
const MOST_ROUNDS = 8;

/** Removes tags and escapes until there are none. */
export function withoutMarkup(text: string): string {
  let plain = text;
  for (let round = 0; round < MOST_ROUNDS && /[<&]/.test(plain); round++) {
    const before = plain;
    plain = unescaped(withoutTags(plain));
    if (plain === before) break;
  }
  return plain;
}

/** Removes tags in one pass, inside out: the rest of one tag may complete another, and a text may be brackets only. */
function withoutTags(text: string): string {
  if (!text.includes('<')) return text;
  const open: number[] = [];
  const kept: string[] = [];
  for (const piece of text.split(/([<>])/)) {
    const start = piece === '>' ? open.pop() : undefined;
    if (piece === '<') open.push(kept.length);
    if (start !== undefined) kept.length = start;
    kept.push(start === undefined ? piece : ' ');
  }
  return kept.join('');
}

/** The names a service is likely to write, each with its character. Accented letters are made of their two parts. */
const SIGNS = `
  amp &  lt <  gt >  quot "  apos '  hellip …  mdash —  ndash –  lsquo ‘  rsquo ’  ldquo “  rdquo ”  sbquo ‚  bdquo „  laquo «
  raquo »  bull •  middot ·  copy ©  reg ®  trade ™  sect §  para ¶  euro €  pound £  yen ¥  cent ¢  deg °  plusmn ±  times ×
  divide ÷  micro µ  iexcl ¡  iquest ¿  szlig ß  aelig æ  AElig Æ  oelig œ  OElig Œ  oslash ø  Oslash Ø  eth ð  ETH Ð  thorn þ
  THORN Þ  sup1 ¹  sup2 ²  sup3 ³  frac12 ½  frac14 ¼  frac34 ¾  ordf ª  ordm º  rarr →  larr ←  le ≤  ge ≥  ne ≠`;
const ENTITIES: Record<string, string> = {
  ...Object.fromEntries(
    SIGNS.trim()
      .split(/\s{2,}|\n\s*/)
      .map((pair) => pair.split(' ')),
  ),
  ...{ nbsp: ' ', shy: '', zwj: '', zwnj: '' },
};
const MARKS: Record<string, string> = {
  ...{ acute: '\u0301', grave: '\u0300', circ: '\u0302', tilde: '\u0303' },
  ...{ uml: '\u0308', ring: '\u030a', cedil: '\u0327', caron: '\u030c' },
};

function unescaped(text: string): string {
  return text.replace(
    /&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z][a-z0-9]{1,7});/gi,
    (whole, name: string) => entity(name) ?? whole,
  );
}

function entity(name: string): string | undefined {
  if (!name.startsWith('#')) return named(name);
  const code = name[1]?.toLowerCase() === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

function named(name: string): string | undefined {
  const known = Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : ENTITIES[name.toLowerCase()];
  const mark = MARKS[name.slice(1)];
  return known ?? (mark === undefined ? undefined : `${name[0]}${mark}`);
}
