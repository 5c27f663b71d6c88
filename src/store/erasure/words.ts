/** What stands where a person's own words stood. */
export const ERASED = '[erased]';

/** An empty text tells nothing, and stays what it is. */
export function erased(text: string): string {
  return text === '' ? '' : ERASED;
}

/** Equal for all spellings of one address. */
export function normalised(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/**
 * Anything that can be an address, also as it stands in a link. What may belong to its first part is taken widely. It is only looked
 * for where such a part begins: from every sign of it, a long word without an address would take hours.
 */
const ADDRESS =
  /(?<![\p{L}\p{M}\p{N}.!#$&'*+/=?^_`{|}~-])([\p{L}\p{M}\p{N}.!#$&'*+/=?^_`{|}~-]+)(@|%40)([\p{L}\p{M}\p{N}.-]*[\p{L}\p{M}\p{N}])/giu;
/** Signs that more often surround an address than belong to it. */
const LOOSE = /^.*[!#$&'*/=?^`{|}~]/su;
const LEADING = /^[._+-]+/u;

/** Whether a text can hold an address at all; most cannot, and that is known quickly. */
export function mayHoldAddress(text: string): boolean {
  return text.includes('@') || text.includes('%40');
}

/** Every address of a text for which `isMeant` holds is replaced; a longer address that merely ends like one of them is another. */
export function withoutAddresses(text: string, isMeant: (email: string) => boolean): string {
  if (!mayHoldAddress(text)) return text;
  return text.replace(ADDRESS, (whole, local: string, at: string, domain: string) => {
    const tight = local.replace(LOOSE, '');
    for (const form of new Set([local, tight, tight.replace(LEADING, '')]))
      if (form !== '' && isMeant(`${form}@${domain}`))
        return whole.slice(0, whole.length - form.length - at.length - domain.length) + ERASED;
    return whole;
  });
}
