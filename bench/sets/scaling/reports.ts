import { REPORT_NAMES, REPORTS } from '../../../src/reports/catalogue.ts';
import { runReport } from '../../../src/reports/run.ts';
import { openReportReader } from '../../../src/reports/store.ts';
import type { LargeMirror } from '../../large-mirror.ts';

/** How long all reports take that answer without a post or imported customers. */
export async function reportSeconds({ path, upstream }: LargeMirror): Promise<number> {
  const reader = openReportReader({ path, upstream });
  const names = REPORT_NAMES.filter((name) => name !== 'post-votes' && !('groups' in REPORTS[name]));
  try {
    const began = performance.now();
    for (const name of names) await runReport(reader, name, { now: Date.now(), timeZone: 'Europe/Berlin' });
    return (performance.now() - began) / 1000;
  } finally {
    await reader.close();
  }
}
