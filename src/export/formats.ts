import type { MakeEncoder } from './encoder.ts';

export const FORMATS = ['csv', 'ndjson', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

/** Loaded when asked for: most runs need one of them. */
export async function encoderOf(format: Format): Promise<MakeEncoder> {
  if (format === 'csv') return (await import('./csv.ts')).csvEncoder;
  if (format === 'ndjson') return (await import('./ndjson.ts')).ndjsonEncoder;
  return (await import('./parquet.ts')).parquetEncoder;
}
