import type { BenchSet } from '../frame/set.ts';
import { answersSet } from './answers.ts';
import { duplicatesSet } from './duplicates.ts';
import { exportSet } from './export.ts';
import { headSet } from './head.ts';
import { importSet } from './import.ts';
import { latencySet } from './latency.ts';
import { mcpSet } from './mcp.ts';
import { memorySet } from './memory.ts';
import { overviewSet } from './overview.ts';
import { publishSet } from './publish.ts';
import { pushSet } from './push.ts';
import { queueSet } from './queue.ts';
import { recallSet } from './recall.ts';
import { scalingSet } from './scaling.ts';
import { searchSet } from './search.ts';
import { similarSet } from './similar.ts';
import { sizingSet } from './sizing.ts';
import { startSet } from './start.ts';
import { sweepSet } from './sweep.ts';
import { unchangedSet } from './unchanged.ts';

/** Every set, in the order in which they run and stand in RESULTS.md. */
export const SETS: readonly BenchSet[] = [
  sweepSet,
  unchangedSet,
  latencySet,
  headSet,
  memorySet,
  searchSet,
  recallSet,
  similarSet,
  importSet,
  duplicatesSet,
  exportSet,
  publishSet,
  pushSet,
  queueSet,
  overviewSet,
  answersSet,
  startSet,
  mcpSet,
  scalingSet,
  sizingSet,
];
