/**
 * Equal for all spellings of one address: every comparison of addresses goes through here. SQLite folds the case of ASCII letters
 * only, so a NOCASE comparison would tell JÖRG@example.com from jörg@example.com where the rest of the program does not.
 */
export function emailKey(email: string): string {
  return foldedText(email.trim());
}

/** A whole text in the spelling of such keys, to look for one in it. */
export function foldedText(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
