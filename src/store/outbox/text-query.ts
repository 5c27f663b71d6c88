/** More words than this make a search slower and no narrower. */
const MOST_WORDS = 4;
/** A word of these signs stands in a text however it is escaped or normalised. */
const PLAIN = /^[a-z0-9]+$/i;

/**
 * A query of the full-text index for posts that have the words of this title and this content; null where the title has none.
 * Not as a phrase: mark-up and escaped signs stand between the words. The index takes each word apart by its own rules.
 */
export function textQuery(title: string, content: string): string | null {
  const inTitle = allOf('title', title);
  const inContent = allOf('content', content);
  return inTitle === null || inContent === null ? inTitle : `${inTitle} AND ${inContent}`;
}

function allOf(column: 'title' | 'content', text: string): string | null {
  const forms = new Set([text.normalize('NFC'), text.normalize('NFD')].map(wordsOf));
  const choices = [...forms].filter((words) => words !== '').map((words) => `(${words})`);
  return choices.length === 0 ? null : `${column} : (${choices.join(' OR ')})`;
}

/** Words with digits and long words first: they are the rarest. Only plain ones where there are any. */
function wordsOf(text: string): string {
  const words = [...new Set(text.match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu))].filter((word) =>
    /[\p{L}\p{N}\p{Co}]/u.test(word),
  );
  const plain = words.filter((word) => PLAIN.test(word));
  const rarestFirst = (plain.length > 0 ? plain : words).sort((a, b) => rarity(b) - rarity(a));
  return rarestFirst
    .slice(0, MOST_WORDS)
    .map((word) => `"${word}"`)
    .join(' AND ');
}

function rarity(word: string): number {
  return word.length + (/\d/.test(word) ? 100 : 0);
}
