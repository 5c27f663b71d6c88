/** Whether a host, as a URL spells it or without its brackets, is this machine itself and nothing that only looks like it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
