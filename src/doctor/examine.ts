import { existsSync } from 'node:fs';
import type { Page } from '../api/client.ts';
import { AppError, messageOf, storageError } from '../base/errors.ts';
import { runbookOf, type Symptom } from '../base/runbook.ts';
import { type Db, type OpenOptions, openForReading } from '../db/open.ts';
import { closeAfter } from '../db/sql.ts';
import { clockTime, type Trouble, troubleClause, troublesOf } from '../mirror/decide/troubles.ts';
import { copyText, type OlderCopy } from '../mirror/decide/types.ts';
import { troubleReader } from '../mirror/store/troubles.ts';
import { KEY_HINT, unreadableText } from '../mirror/suppression/key-text.ts';
import { REFUSED_HINT, refusedText } from '../outbox/store/refused.ts';
import { type DriftRow, driftText } from '../rules/letter.ts';
import { counted, durationText, grouped, sizeText } from '../text/text.ts';
import { type Checkup, checkUp } from '../upkeep/checkup.ts';
import type { WebhookState } from '../webhooks/store.ts';
import { type Check, check, type Finding, fault, fine, warning } from './check.ts';
import { examineAccess, examineFile, examineFolder, examineService, type ServiceAddress } from './machine.ts';

/** What the doctor looks at. Looking creates nothing on this machine and changes nothing. */
export interface DoctorInput {
  dataDir: string;
  mirror: OpenOptions;
  /** Whether a large file of the mirror is read whole, too. */
  isDeep?: boolean;
  /** Null for the built-in sandbox, which is not there to be asked while nothing runs. */
  upstream: { host: string; firstPage(signal: AbortSignal): Promise<Page<unknown>> } | null;
  /** A server of its own, or a file that is counted without changing it: null where there is none yet. */
  queue:
    | { kind: 'server'; tryIt(): Promise<void> }
    | { kind: 'embedded'; countJobs(): Promise<number | null> };
  /** Throws what is wrong with the file of rules. */
  checkRules(): Promise<void>;
  /** The copy in PostgreSQL; null where the settings name none. */
  copy: { look(): Promise<{ behind: number; readAt: string; isOther: boolean } | null> } | null;
  service: ServiceAddress;
}

export async function* examine(
  input: DoctorInput,
  signal: AbortSignal,
): AsyncGenerator<Check, void, undefined> {
  const { dataDir, mirror, isDeep = false, upstream, queue, checkRules, copy, service } = input;
  yield* examineRules(checkRules);
  yield await check('data folder', () => examineFolder(dataDir), 'data-folder');
  yield* examineMirror(mirror, isDeep);
  yield* examineDrift(mirror);
  signal.throwIfAborted();
  const asked = await check('upstream', () => examineUpstream(upstream, signal));
  yield asked;
  yield* examineTroubles(mirror, upstream !== null && asked.state === 'ok');
  signal.throwIfAborted();
  yield await check('queue', () => examineQueue(queue), 'queue-away');
  signal.throwIfAborted();
  if (copy) yield await check('copy', () => examineCopyIn(copy), 'copy-behind');
  yield await check('access', () => examineAccess(service));
  yield await check('service', () => examineService(service, signal));
}

/** Another machine of the fleet runs the source, and its files are there. This machine only has to reach the upstream when it takes over. */
export async function* examineElsewhere(
  { upstream }: DoctorInput,
  machine: string | null,
  signal: AbortSignal,
): AsyncGenerator<Check, void, undefined> {
  yield {
    name: 'machine',
    ...(machine === null
      ? warning(
          'this machine does not run the source, and PostgreSQL does not say which one does',
          '"feedback-mirror fleet status" names it, or says why not.',
          'fleet-unconfirmed',
        )
      : fine(`${machine} runs the source and has its mirror: run doctor there`)),
  };
  yield await check('upstream', () => examineUpstream(upstream, signal));
}

/** Only where the file has mistakes: most mirrors have no rules. */
async function* examineRules(checkRules: DoctorInput['checkRules']): AsyncGenerator<Check, void, undefined> {
  const found = await check('rules', async () => {
    await checkRules();
    return fine('');
  });
  if (found.state !== 'ok') yield found;
}

/** What the mirror knows of troubles. Where the service has just answered, it is reached again. */
function* examineTroubles(mirror: OpenOptions, answers: boolean): Generator<Check, void, undefined> {
  if (!existsSync(mirror.path)) return;
  const known = readOrNone(mirror, (db) => {
    const facts = troubleReader(db)();
    return troublesOf(answers ? { ...facts, failures: [], closed: null } : facts, Date.now());
  });
  for (const trouble of known) yield { name: 'trouble', ...examineTrouble(trouble) };
}

function examineTrouble(trouble: Trouble): Finding {
  const advice = `${trouble.advice.charAt(0).toUpperCase()}${trouble.advice.slice(1)}.`;
  return warning(
    troubleClause(trouble, (time) => clockTime(time, Date.now())),
    advice,
    trouble.symptom,
  );
}

const DRIFT_SHOWN_MS = 30 * 86_400_000;
const MOST_DRIFTS = 5;

/** Only where the API changed lately: nothing else is to be said about it. */
async function* examineDrift(mirror: OpenOptions): AsyncGenerator<Check, void, undefined> {
  if (!existsSync(mirror.path)) return;
  const since = new Date(Date.now() - DRIFT_SHOWN_MS).toISOString();
  const drifts = readOrNone(mirror, (db) =>
    db.prepare<[string], DriftRow>('SELECT * FROM drifts WHERE since >= ? ORDER BY n DESC').all(since),
  );
  if (drifts.length === 0) return;
  const shown = drifts.slice(0, MOST_DRIFTS).map(driftText).join('; ');
  const finding = warning(
    `the API changed: ${shown}${drifts.length > MOST_DRIFTS ? `; and ${drifts.length - MOST_DRIFTS} more` : ''}`,
    'The mirror keeps new fields in "extra". Check what you built on fields that vanished or changed.',
    'api-changed',
  );
  yield { name: 'API', ...finding };
}

/** A mirror that cannot be read is told of by its own check. */
function readOrNone<T>(mirror: OpenOptions, read: (db: Db) => T[]): T[] {
  try {
    return closeAfter(openForReading(mirror), read);
  } catch {
    return [];
  }
}

async function* examineMirror(mirror: OpenOptions, isDeep: boolean): AsyncGenerator<Check, void, undefined> {
  if (!existsSync(mirror.path)) {
    const finding = warning(
      `${mirror.path} is not there yet`,
      'Run "feedback-mirror sync" for the first copy.',
      'no-mirror',
    );
    yield { name: 'mirror', ...finding };
    return;
  }
  let found: Checkup | undefined;
  yield await check('mirror', () => {
    found = readable(mirror, isDeep);
    return wholeness(mirror.path, found) ?? examineFile(mirror.path) ?? fine(described(mirror.path, found));
  });
  if (found === undefined) return;
  const { walBytes, unindexed, wronglyPacked, sqlite, olderCopy, unreadableList, lists, webhooks } = found;
  yield { name: 'outbox', ...examineOutbox(found) };
  if (olderCopy) yield { name: 'older copy', ...examineCopy(olderCopy) };
  if (unreadableList)
    yield { name: 'suppression list', ...fault(unreadableText(unreadableList), KEY_HINT, 'suppression-key') };
  for (const webhook of webhooks) yield { name: `webhook ${webhook.id}`, ...examineWebhook(webhook) };
  yield await check('write-ahead log', () => examineLog(walBytes));
  yield await check('search index', () => examineIndex(unindexed));
  if (wronglyPacked) yield { name: 'reports', ...examineColumns(wronglyPacked) };
  yield { name: 'SQLite', ...fine(sqlite) };
  for (const list of lists)
    if (list.notes.length > 0) yield { name: `list of ${list.resource}`, ...examineList(list) };
}

/** The first sentence about an incomplete sweep says what to do. */
function examineList({ notes, isIncomplete }: Checkup['lists'][number]): Finding {
  const found = fine(notes.join(' '));
  return isIncomplete ? { ...found, state: 'warn', runbook: [runbookOf('list-incomplete')] } : found;
}

/** SQLite may find the damage only where it gets stuck in it. A disk that is full or fails leaves the file as it was. */
function readable(mirror: OpenOptions, isDeep: boolean): Checkup {
  try {
    return checkUp(mirror, isDeep);
  } catch (error) {
    const cause: unknown = error instanceof AppError ? error.cause : error;
    const isDamage = /^SQLITE_(CORRUPT|NOTADB)/.test(String(Reflect.get(Object(cause), 'code')));
    if (!isDamage && (error instanceof AppError || storageError(error))) throw error;
    throw new AppError('storage', damaged(mirror.path, [messageOf(cause)]), { cause, hint: RESTORE });
  }
}

const RESTORE =
  'Stop the service, move the file away and restore a backup. Or sync again, which loses the history and the outbox.';

function damaged(path: string, faults: string[]): string {
  return `${path} is damaged: ${faults.join('; ')}`;
}

function wholeness(path: string, { faults }: Checkup): Finding | null {
  return faults && faults.length > 0
    ? fault(damaged(path, faults), RESTORE, 'mirror-damaged', 'storage')
    : null;
}

function described(path: string, { bytes, schema, faults, ms }: Checkup): string {
  const how = faults ? `checked whole in ${durationText(ms)}` : 'not read whole; --deep does that';
  return `${path}, ${sizeText(bytes)}, schema ${schema}, ${how}`;
}

/** What is known of it, and what is left to do; told until a whole sweep was read and every row was looked for. */
function examineCopy({ since, checking, erasures, isCovered }: OlderCopy): Finding {
  const facts = [
    `the mirror is ${copyText({ since })}`,
    `${counted(checking, 'outbox row')} to look for upstream before anything is sent`,
    ...(erasures > 0 ? [`${erasures} erasures made since were applied`] : []),
  ];
  const advice = 'Start the service, or run "feedback-mirror sync", and it settles by itself.';
  return warning(
    facts.join('; '),
    isCovered ? advice : `${advice} Erase again whom you erased since: this data folder does not know it.`,
    'restored-copy',
  );
}

function examineWebhook({ disabled_at, disabled_why, failing_since, lost }: WebhookState): Finding {
  const gone =
    lost > 0 ? `; it can no longer be told of ${counted(lost, 'change')}: CHANGES_KEEP was over` : '';
  if (disabled_at === null)
    return warning(
      `it has failed since ${failing_since}${gone}`,
      'The service tries it again by itself; check the receiver.',
      'webhook-failing',
    );
  return warning(
    `disabled at ${disabled_at}: ${disabled_why}${gone}`,
    `When the receiver works again, enable it on the page "Webhooks" of the dashboard; it continues ${lost > 0 ? 'with the oldest change that is kept' : 'where it was'}.`,
    'webhook-disabled',
  );
}

function examineOutbox(found: Checkup): Finding {
  const notes = outboxNotes(found);
  const details = notes.map(([detail]) => detail);
  const advice = new Set(notes.map(([, text]) => text));
  const [symptom, ...more] = new Set(notes.map(([, , name]) => name));
  return symptom
    ? warning(details.join('; '), [...advice].join(' '), symptom, ...more)
    : fine('nothing waits for a person');
}

type Note = readonly [detail: string, advice: string, symptom: Symptom];

function outboxNotes({ refused, undecided, duplicates, doubtful, unlisted }: Checkup): Note[] {
  const named = (count: number, detail: string, advice: string, symptom: Symptom): Note[] =>
    count > 0 ? [[detail, advice, symptom]] : [];
  return [
    ...refused.map((board): Note => [refusedText(board), REFUSED_HINT, 'board-refused']),
    ...named(
      undecided,
      `${counted(undecided, 'row')} ${undecided === 1 ? 'needs' : 'need'} a decision`,
      'See "feedback-mirror outbox list --state uncertain".',
      'decision-needed',
    ),
    ...named(
      duplicates,
      `${counted(duplicates, 'row')} left a second post upstream`,
      '"feedback-mirror query \'SELECT id, post_id, duplicate_of FROM outbox WHERE duplicate_of > 0\'" names the posts.',
      'second-post',
    ),
    ...named(
      doubtful,
      `${counted(doubtful, 'row')} may have left another post upstream`,
      '"feedback-mirror outbox list" names them below the table.',
      'second-post',
    ),
    ...named(
      unlisted,
      `${counted(unlisted, 'sent post')} never listed since`,
      'A service may hold new posts back for approval, or have lost them: "feedback-mirror query \'SELECT id, post_id, title FROM outbox WHERE post_id NOT IN (SELECT id FROM posts)\'" names them.',
      'not-listed',
    ),
  ];
}

const LARGE_LOG = 1_000_000_000;

function examineLog(bytes: number): Finding {
  return bytes < LARGE_LOG
    ? fine(sizeText(bytes))
    : warning(
        `it has grown to ${sizeText(bytes)}`,
        'Some program has been reading the mirror for a long time without a break: close it.',
        'large-log',
      );
}

function examineIndex(unindexed: number): Finding {
  return unindexed === 0
    ? fine('every post is in it')
    : warning(
        `${grouped(unindexed)} posts are not in it yet`,
        'The next "feedback-mirror sync posts", or the service, continues it.',
        'search-index',
      );
}

function examineColumns(wrong: readonly string[]): Finding {
  return wrong.length === 0
    ? fine('they add up what the tables have')
    : fault(
        `they add up something else than the tables have: ${wrong.join(', ')}`,
        'Run "feedback-mirror doctor --rebuild".',
        'wrong-sums',
      );
}

/** The header has whole seconds, and the way takes its time. */
const CLOCKS_DIFFER_MS = 10_000;

async function examineUpstream(upstream: DoctorInput['upstream'], signal: AbortSignal): Promise<Finding> {
  if (upstream === null)
    return fine('the built-in sandbox; "feedback-mirror init" connects a service of your own');
  const begin = performance.now();
  const { serverTime, receivedAt, rows, rejects } = await upstream.firstPage(signal);
  const detail = `${upstream.host} took the token and listed ${counted(rows.length, 'post')} in ${durationText(performance.now() - begin)}`;
  const ahead = serverTime === null ? 0 : receivedAt - serverTime;
  if (Math.abs(ahead) > CLOCKS_DIFFER_MS)
    return warning(
      `${detail}; this machine's clock is ${durationText(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} its clock`,
      'Let this machine set its clock by the network: what was sent is found again by its time.',
      'clocks-differ',
    );
  if (rejects.length > 0)
    return warning(
      `${detail}; ${rejects.length} more could not be read`,
      'After a sync the table quarantine has each with its reason.',
      'quarantine',
    );
  return fine(detail);
}

/** What a lost disk would cost. */
async function examineCopyIn({ look }: NonNullable<DoctorInput['copy']>): Promise<Finding> {
  const found = await look();
  if (!found)
    return warning(
      'there is no copy yet: a lost disk would cost everything',
      'The service makes it when it runs.',
      'copy-behind',
    );
  const { behind, readAt, isOther } = found;
  if (isOther)
    return fault(
      'the schema holds the copy of another mirror, or of one that was restored from it',
      'Set PUBLISH_SCHEMA to a schema of its own, or stop this service if it is the one that was replaced.',
      'copy-other',
    );
  if (behind === 0) return fine(`it has every change; its last ones are from ${readAt}`);
  return warning(
    `it is ${counted(behind, 'change')} behind: a lost disk would cost what happened since ${readAt}`,
    'While the service runs it catches up by itself within seconds; its log says what keeps it.',
    'copy-behind',
  );
}

async function examineQueue(queue: DoctorInput['queue']): Promise<Finding> {
  if (queue.kind === 'embedded') return examineQueueFile(queue.countJobs);
  const begin = performance.now();
  await queue.tryIt();
  return fine(`its server answers and fits, in ${durationText(performance.now() - begin)}`);
}

async function examineQueueFile(countJobs: () => Promise<number | null>): Promise<Finding> {
  try {
    const jobs = await countJobs();
    if (jobs === null) return fine('embedded; queue.db is made when the service starts');
    return fine(`embedded, ${counted(jobs, 'job')} in queue.db`);
  } catch (error) {
    return warning(
      `queue.db cannot be read: ${messageOf(error)}`,
      'Nothing is lost: the service moves it aside and fills a new one from the mirror.',
      'queue-damaged',
    );
  }
}
