/** `import-20261115-014207-ab12cd`: in the order of time, told apart when two begin in the same second. */
export function batchId(kind: 'import' | 'create' | 'api', now: number, random: () => number): string {
  const [day, time] = new Date(now).toISOString().replaceAll(/[-:]/g, '').slice(0, 15).split('T');
  const tail = Math.floor(random() * 36 ** 6)
    .toString(36)
    .padStart(6, '0');
  return `${kind}-${day}-${time}-${tail}`;
}
