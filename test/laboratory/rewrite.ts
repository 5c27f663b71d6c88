import { AppError } from '../../src/base/errors.ts';
import type { Random } from '../../src/sandbox/random.ts';

/** What people wrote in a post. */
interface Words {
  title: string;
  content: string;
}

type Rewrite = (words: Words, limit?: number) => Words;
type TextRewrite = (text: string) => string;

/**
 * What services do to the words they are given before they keep them. Each is written as one would meet it, not so that a client finds
 * it easy to undo.
 */
const REWRITES = {
  trim: both((text) => text.trim()),
  'collapse-space': both((text) => text.replace(/\s+/g, ' ').trim()),
  crlf: both((text) => text.replace(/\r?\n/g, '\r\n')),
  nfc: both((text) => text.normalize('NFC')),
  nfkc: both((text) => text.normalize('NFKC')),
  escape: both(escaped),
  'named-entities': both((text) => escaped(text).replace(/[^ -~\s]/gu, namedEntity)),
  'paragraph-html': inContent((text) => `<p>${escaped(text).replace(/\r?\n/g, '<br />')}</p>`),
  'markdown-html': inContent(markdownHtml),
  'sanitise-script': both(sanitised),
  'shorten-links': both((text) => text.replace(/https?:\/\/\S+/g, shortLink)),
  'smart-quotes': both(smartQuotes),
  'truncate-title': ({ title, content }, limit = 255) => ({ title: cut(title, limit), content }),
  'truncate-title-dots': ({ title, content }, limit = 255) => ({ title: dotted(title, limit), content }),
  'truncate-content': ({ title, content }, limit = 1000) => ({ title, content: cut(content, limit) }),
  'empty-content': ({ title }) => ({ title, content: '' }),
  'emoji-shortcode': both((text) => text.replace(EMOJI, shortcode)),
  'emoji-strip': both((text) => text.replace(EMOJI, '')),
  'emoji-question': both((text) => text.replace(EMOJI, '?')),
  'capitalise-first': both((text) => text.replace(/^\s*\p{L}/u, (letter) => letter.toUpperCase())),
  'capitalise-words': inTitle((text) => text.replace(/\p{L}+/gu, (word) => capital(word))),
  'strip-trailing-dot': inTitle((text) => text.replace(/[.\s]+$/, '')),
  'strip-zero-width': both((text) => text.replace(/\u200b|\u200c|\u200d|\u2060|\ufeff|\u00ad/g, '')),
  'strip-control': both((text) => text.replace(/\p{Cc}/gu, (sign) => (/[\t\r\n]/.test(sign) ? sign : ''))),
  'word-filter': both((text) => text.replace(/\b(damn|crap|hell|stupid|idiot)\w*/gi, stars)),
  'expand-mention': both((text) => text.replace(/(?<![\w.])@(\w[\w.-]*\w)/g, '[@$1](/users/$1/)')),
} satisfies Record<string, Rewrite>;

export type RewriteKind = keyof typeof REWRITES;
export const REWRITE_KINDS = Object.keys(REWRITES) as RewriteKind[];

/** Picks one kind for each post. */
export const ANY_REWRITE = 'all';

/** Those that take a length, as in `truncate-title=40`. */
const LIMITED: readonly string[] = ['truncate-title', 'truncate-title-dots', 'truncate-content'];

export function checkRewrites(kinds: readonly string[]): void {
  for (const given of kinds) {
    const [kind = '', limit] = given.split('=');
    if (kind !== ANY_REWRITE && !Object.hasOwn(REWRITES, kind)) {
      const known = [ANY_REWRITE, ...REWRITE_KINDS].join(', ');
      throw new AppError('usage', `rewrite "${kind}" is not known; it can be ${known}`);
    }
    if (limit !== undefined && !(LIMITED.includes(kind) && /^[1-9]\d*$/.test(limit))) {
      throw new AppError('usage', `rewrite "${given}": a length can be given to ${LIMITED.join(', ')}`);
    }
  }
}

interface Rewritten extends Words {
  /** The kinds that changed anything. */
  applied: string[];
}

/** Applies the kinds one after the other. */
export function rewrite(words: Words, kinds: readonly string[], random: Random): Rewritten {
  const result: Rewritten = { title: words.title, content: words.content, applied: [] };
  for (const given of kinds) {
    const [kind, limit] = given.split('=');
    const name = kind === ANY_REWRITE ? random.pick(REWRITE_KINDS) : (kind as RewriteKind);
    const { title, content } = (REWRITES[name] as Rewrite)(
      result,
      limit === undefined ? limit : Number(limit),
    );
    if (title !== result.title || content !== result.content) result.applied.push(name);
    Object.assign(result, { title, content });
  }
  return result;
}

function both(change: TextRewrite): Rewrite {
  return ({ title, content }) => ({ title: change(title), content: change(content) });
}

function inTitle(change: TextRewrite): Rewrite {
  return ({ title, content }) => ({ title: change(title), content });
}

function inContent(change: TextRewrite): Rewrite {
  return ({ title, content }) => ({ title, content: change(content) });
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** The names of U+00A0 to U+00FF in their order. */
const LATIN_1 =
  `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute
  micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil
  Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute
  Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute
  icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`.split(
    /\s+/,
  );
const OTHERS: Record<string, string> = {
  '–': 'ndash',
  '—': 'mdash',
  '‘': 'lsquo',
  '’': 'rsquo',
  '“': 'ldquo',
  '”': 'rdquo',
  '…': 'hellip',
  '€': 'euro',
};

function namedEntity(sign: string): string {
  const name = OTHERS[sign] ?? LATIN_1[(sign.codePointAt(0) ?? 0) - 0xa0];
  return name === undefined ? sign : `&${name};`;
}

function markdownHtml(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((block) => markdownBlock(block.trim()))
    .join('\n');
}

function markdownBlock(block: string): string {
  const heading = /^(#{1,6}) +(.*)$/s.exec(block);
  if (heading?.[1])
    return `<h${heading[1].length}>${markdownInline(heading[2] ?? '')}</h${heading[1].length}>`;
  const lines = block.split('\n');
  if (lines.every((line) => /^[-*] /.test(line))) {
    const items = lines.map((line) => `<li>${markdownInline(line.slice(2))}</li>`);
    return `<ul>\n${items.join('\n')}\n</ul>`;
  }
  return `<p>${markdownInline(block)}</p>`;
}

function markdownInline(text: string): string {
  return escaped(text)
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2" rel="nofollow">$1</a>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/[*_]([^*_]+)[*_]/g, '<em>$1</em>')
    .replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** As a sanitiser does: scripts and styles go with what is in them, of other tags only the harmless ones stay. */
function sanitised(text: string): string {
  return text
    .replace(/<(script|style|iframe)\b[^>]*>.*?<\/\1\s*>/gis, '')
    .replace(/<\/?(?!(?:b|i|em|strong|p|br|a|ul|ol|li|code)\b)[a-z][^>]*>/gi, '')
    .replace(/\s(?:on\w+|style)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, '')
    .replace(/javascript:/gi, '');
}

const LINK_LENGTH = 24;

function shortLink(link: string): string {
  const shown = link.replace(/^https?:\/\/(www\.)?/, '');
  return shown.length > LINK_LENGTH ? `${shown.slice(0, LINK_LENGTH)}…` : shown;
}

function smartQuotes(text: string): string {
  return text
    .replace(/(^|[\s([{])"/g, '$1“')
    .replaceAll('"', '”')
    .replace(/(^|[\s([{])'/g, '$1‘')
    .replaceAll("'", '’')
    .replaceAll('---', '—')
    .replaceAll('--', '–')
    .replaceAll('...', '…');
}

/** Never through the middle of a surrogate pair. */
function cut(text: string, limit: number): string {
  const short = text.slice(0, limit);
  return short.isWellFormed() ? short : short.slice(0, -1);
}

function dotted(text: string, limit: number): string {
  return text.length <= limit ? text : `${cut(text, Math.max(limit - 3, 0)).trimEnd()}...`;
}

const EMOJI =
  /\p{RI}\p{RI}|(?!\d)\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier}|\u200d\p{Extended_Pictographic})*/gu;

const SHORTCODES: Record<string, string> = {
  '😀': 'grinning',
  '😅': 'sweat_smile',
  '👍': 'thumbsup',
  '🎉': 'tada',
  '🚀': 'rocket',
  '🐛': 'bug',
  '❤️': 'heart',
};

function shortcode(emoji: string): string {
  return `:${SHORTCODES[emoji] ?? `u${emoji.codePointAt(0)?.toString(16)}`}:`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function stars(word: string): string {
  return word.charAt(0) + '*'.repeat(word.length - 1);
}
