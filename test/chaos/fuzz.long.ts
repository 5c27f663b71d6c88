import { fuzzCsv } from './fuzz/csv.ts';
import { fuzzDecoder } from './fuzz/decoder.ts';

/** `node test/chaos/fuzz.long.ts [mutations] [seed]` */
const count = Number(process.argv[2] ?? 100_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
process.stdout.write(`${count} mutations each, seed ${seed}\n`);
process.stdout.write(`decoder: ${JSON.stringify(fuzzDecoder(count, seed))}\n`);
process.stdout.write(`CSV reader, by row: ${JSON.stringify(await fuzzCsv(count, seed))}\n`);
