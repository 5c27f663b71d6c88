// Follows the change feed of a running service over HTTP, and continues after a restart: node follow-changes.mjs
// MIRROR_URL is the address of the service, HTTP_TOKEN its token if it has one, POSITION_FILE where the position is kept.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const url = process.env.MIRROR_URL ?? 'http://127.0.0.1:8080';
const file = process.env.POSITION_FILE ?? 'position.txt';
const headers = process.env.HTTP_TOKEN ? { authorization: `Bearer ${process.env.HTTP_TOKEN}` } : {};

async function changesAfter(position) {
  const answer = await fetch(`${url}/api/changes?since=${encodeURIComponent(position)}&limit=500`, { headers });
  // 410: this position is no longer kept, or the mirror was restored. Take a snapshot, then start at "now".
  if (answer.status === 410) throw new Error(`Delete ${file}, take a snapshot, and start again.`);
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return await answer.json();
}

/** Under another name first: a crash leaves the old position or the new one, and never half of one. */
function keep(position) {
  writeFileSync(`${file}.new`, position);
  renameSync(`${file}.new`, file);
}

/** A change may come twice after a crash, so handling one twice must do no harm. */
function handle({ number, type, post }) {
  console.log(number, type, post?.title ?? '');
}

if (!existsSync(file)) keep((await changesAfter('now')).next);
for (let position = readFileSync(file, 'utf8'); ; ) {
  try {
    const { changes, next, more } = await changesAfter(position);
    for (const change of changes) handle(change);
    if (next !== position) keep(next);
    position = next;
    if (!more) await setTimeout(1000);
  } catch (error) {
    // The service may restart at any time. Nothing is lost: the position is on disk.
    if (!(error instanceof TypeError)) throw error;
    await setTimeout(1000);
  }
}
