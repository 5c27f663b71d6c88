import { checkFile } from '../judge/file.ts';
import { readyAgain } from '../judge/readiness.ts';
import type { Stage } from '../stage.ts';

/** What an operator's supervisor does after a death, with the judge's look at the file before it. */
export async function recover(stage: Stage, cause: string): Promise<void> {
  checkFile(stage, cause);
  stage.service.start();
  await readyAgain(stage, cause);
}
