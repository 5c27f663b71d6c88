import { REPORT_NAMES, REPORTS } from '../../../src/reports/catalogue.ts';
import type { ReportFlag } from '../../../src/reports/report.ts';
import { runReport } from '../../../src/reports/run.ts';
import { openReportReader } from '../../../src/reports/store.ts';
import type { LargeMirror } from '../../large-mirror.ts';

/** How long all reports take that answer without being told of a post or a file of customers. */
export async function reportSeconds({ path, upstream }: LargeMirror): Promise<number> {
  const reader = openReportReader({ path, upstream });
  const asks = (name: (typeof REPORT_NAMES)[number], flag: ReportFlag): boolean => {
    const { takes }: { takes: readonly ReportFlag[] } = REPORTS[name];
    return takes.includes(flag);
  };
  const names = REPORT_NAMES.filter((name) => !asks(name, 'post') && !asks(name, 'segments'));
  try {
    const began = performance.now();
    for (const name of names) await runReport(reader, name, { now: Date.now(), timeZone: 'Europe/Berlin' });
    return (performance.now() - began) / 1000;
  } finally {
    await reader.close();
  }
}
