/** The address above the pages of this source, from the document. Empty with one source, and in tests without a document. */
const MOUNT = globalThis.document?.documentElement.dataset.mount ?? '';

/** Addresses of the program itself, the same from every source. */
const OF_PROGRAM = ['/login', '/logout', '/healthz', '/data/sources'];

/** The address of a page or of data of this source; one that is whole already stays as it is. */
export function mounted(address: string): string {
  const isOwn = address.startsWith('/') && !OF_PROGRAM.some((one) => address.startsWith(one));
  return isOwn && !isOfSource(address) ? `${MOUNT}${address}` : address;
}

/** The address as the table of pages has it. */
export function unmounted(address: string): string {
  return isBelow(address) ? address.slice(MOUNT.length) : address;
}

function isBelow(address: string): boolean {
  return MOUNT !== '' && address.startsWith(`${MOUNT}/`);
}

/** An address of this source, or of another one. */
function isOfSource(address: string): boolean {
  return isBelow(address) || /^\/s\/[a-z0-9-]+\//.test(address);
}

/** Whether this is the document over all sources. */
export const IS_OF_ALL = globalThis.document?.documentElement.dataset.all !== undefined;

/** The name of this source; null where there is one without a name. */
export function ownSource(): string | null {
  return MOUNT === '' ? null : MOUNT.slice('/s/'.length);
}
