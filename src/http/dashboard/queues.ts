import type { Job, JobType, Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';
import { iso } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { within } from '../../base/timeout.ts';
import { required, textIn, wordIn } from './parameters.ts';

interface QueuesDeps {
  queues: Promise<readonly Queue[]>;
}

/** What a job waits for, and under which names BullMQ keeps it. */
const TYPES = {
  running: ['active'],
  next: ['waiting', 'prioritized'],
  planned: ['delayed'],
  failed: ['failed'],
  done: ['completed'],
} as const satisfies Record<string, JobType[]>;
export type JobState = keyof typeof TYPES;
const STATES = Object.keys(TYPES) as JobState[];

export interface QueueView {
  name: string;
  isPaused: boolean;
  counts: Record<JobState, number>;
}

/** A job carries ids only, so it shows no texts and no people. */
export interface JobView {
  id: string;
  what: string;
  /** When it came, is planned for, began or ended. */
  at: string;
  attempts: number;
  error: string | null;
  /** How many rows a pass that is running has read. */
  rows: number | null;
  /** Made by a schedule, which would only make it again. */
  isScheduled: boolean;
}

export interface QueuesAnswer {
  queues: QueueView[];
  /** Of the queue and the state that were asked for. */
  jobs: JobView[];
}

const MOST_JOBS = 50;
const ANSWER_MS = 5000;
const ACTIONS = ['retry', 'promote', 'remove'] as const;
export type JobAction = (typeof ACTIONS)[number];

/**
 * `/data/queues`: the queues, and the jobs of one of them. A job can be run again, run now and removed, and a queue can pause. New jobs
 * come from the settings and the outbox alone.
 */
export function addQueues(app: FastifyInstance, deps: QueuesDeps): void {
  app.get('/data/queues', ({ query }): Promise<QueuesAnswer> => {
    const [name, state] = [textIn(query, 'queue'), wordIn(query, 'state', STATES) ?? 'failed'];
    return answered(async () => {
      const queues = await deps.queues;
      const views = await Promise.all(queues.map(viewOf));
      return { queues: views, jobs: name === null ? [] : await jobsOf(named(queues, name), state) };
    });
  });
  app.post('/data/queues/:queue/:way', ({ params }) => {
    const name = required(textIn(params, 'queue'), 'queue');
    const way = required(wordIn(params, 'way', ['pause', 'resume']), 'way');
    return answered(async () => {
      const queue = named(await deps.queues, name);
      await queue[way]();
      return await viewOf(queue);
    });
  });
  app.post('/data/queues/:queue/jobs/:action', ({ params, body }, reply) => {
    const name = required(textIn(params, 'queue'), 'queue');
    const action = required(wordIn(params, 'action', ACTIONS), 'action');
    const id = required(textIn(body, 'id'), 'id');
    return answered(async () => {
      const job = await named(await deps.queues, name).getJob(id);
      if (!job) return reply.code(404).send({ detail: 'This job is over, and not kept.' });
      await act(job, action);
      return { asked: action };
    });
  });
}

/** A queue whose server is away answers when that is back, and a queue that is being opened when it is open. */
function answered<T>(work: () => Promise<T>): Promise<T> {
  return within(ANSWER_MS, work(), () => new AppError('busy', 'the queue does not answer'));
}

function named(queues: readonly Queue[], name: string): Queue {
  const found = queues.find((queue) => nameOf(queue) === name);
  if (found) return found;
  throw new AppError('usage', `there is no queue "${name}"`);
}

/** Queues are named after the mirror first, which is the same for all of one service. */
function nameOf({ name }: Queue): string {
  return name.slice(name.indexOf('.') + 1);
}

async function viewOf(queue: Queue): Promise<QueueView> {
  const [isPaused, counts] = await Promise.all([
    queue.isPaused(),
    queue.getJobCounts(...Object.values(TYPES).flat()),
  ]);
  const countOf = (types: readonly JobType[]): number =>
    types.reduce((sum, type) => sum + (counts[type] ?? 0), 0);
  const states = STATES.map((state) => [state, countOf(TYPES[state])] as const);
  return { name: nameOf(queue), isPaused, counts: Object.fromEntries(states) as QueueView['counts'] };
}

async function jobsOf(queue: Queue, state: JobState): Promise<JobView[]> {
  // The list has a gap where a job ended while it was read.
  const jobs: (Job | undefined)[] = await queue.getJobs(
    [...TYPES[state]],
    0,
    MOST_JOBS - 1,
    state === 'next',
  );
  return jobs.flatMap((job) => (job ? [jobView(job, state)] : []));
}

function jobView(job: Job, state: JobState): JobView {
  const { timestamp, processedOn = timestamp, finishedOn = processedOn, delay } = job;
  const at: Record<JobState, number> = {
    running: processedOn,
    next: timestamp,
    planned: (job.attemptsMade > 0 ? processedOn : timestamp) + delay,
    failed: finishedOn,
    done: finishedOn,
  };
  return {
    id: job.id ?? '',
    what: jobWords(job),
    at: iso(at[state]),
    attempts: job.attemptsMade,
    error: job.failedReason || null,
    rows: rowsOf(job),
    isScheduled: job.repeatJobKey !== undefined,
  };
}

function rowsOf({ progress }: Job): number | null {
  const rows: unknown = Reflect.get(Object(progress), 'rows');
  return typeof rows === 'number' ? rows : null;
}

/** What a job does, in words; one without words is shown by its name. */
function jobWords({ name, data }: Pick<Job, 'name' | 'data'>): string {
  const { resource, outbox, webhook } = Object(data) as Record<string, unknown>;
  const words: Record<string, string> = {
    dispatch: 'Look for rows that are due',
    'sync-head': `Read the newest ${resource}`,
    'sync-sweep': `Read all ${resource}`,
    push: `Send row ${outbox}`,
    reconcile: 'Look for the posts of unclear rows',
    deliver: `Tell the webhook ${webhook}`,
    maintenance: 'Nightly maintenance',
    export: 'Scheduled export',
  };
  return words[name] ?? name;
}

/** The states of BullMQ in which each action is possible. */
const ALLOWED: Record<JobAction, readonly string[]> = {
  retry: ['failed'],
  promote: ['delayed'],
  remove: ['waiting', 'prioritized', 'delayed', 'failed', 'completed'],
};

/** What a job does next is decided by the outbox and the state of the mirror, whoever has started it. */
async function act(job: Job, action: JobAction): Promise<void> {
  const state = await job.getState();
  if (!ALLOWED[action].includes(state))
    throw new AppError('usage', `the job is ${state} by now`, { hint: 'Look at it again.' });
  await job[action]();
}
