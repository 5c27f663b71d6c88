/**
 * Equal for all spellings of one address: every comparison of addresses goes through here. SQLite folds the case of ASCII letters
 * only, so a NOCASE comparison would tell JÖRG@example.com from jörg@example.com where the rest of the program does not.
 */
export function emailKey(email: string): string {
  return caseFolded(email.trim());
}

/** A whole text in the spelling of such keys, to look for one in it. */
export function caseFolded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** Whether a person can be told by it: services also show nothing, or a word, where there is no address. */
export function isAddress(text: string): boolean {
  return /^\s*[^\s@]+@[^\s@]+\s*$/.test(text);
}

/** Equal for all spellings of a mailbox: case, the part after a plus, and the dots and the second name of one large provider do not count. */
export function mailbox(address: string): string {
  const [local = '', domain = ''] = emailKey(address).split(/@(?=[^@]*$)/);
  const name = local.replace(/\+.*$/, '');
  const isGoogle = domain === 'gmail.com' || domain === 'googlemail.com';
  return isGoogle ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`;
}
