import { dirname } from 'node:path';
import type { Check } from '../../src/doctor/check.ts';
import { type DoctorInput, examine } from '../../src/doctor/examine.ts';
import type { Mirror } from '../support/mirror.ts';

/** What the doctor says about the mirror; it is left before it looks at anything else. */
export async function aboutMirror({ path, upstream }: Pick<Mirror, 'path' | 'upstream'>): Promise<Check[]> {
  const told: Check[] = [];
  const input: DoctorInput = {
    dataDir: dirname(path),
    mirror: { path, upstream },
    upstream: null,
    queue: { kind: 'embedded', countJobs: async () => null },
    checkRules: async () => {},
    copy: null,
    service: { host: '127.0.0.1', port: 9, token: null, isUpstreamToken: false },
  };
  for await (const found of examine(input, new AbortController().signal)) {
    if (found.name === 'queue') break;
    if (found.name !== 'upstream') told.push(found);
  }
  return told;
}
