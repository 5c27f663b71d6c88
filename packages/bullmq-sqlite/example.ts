import { Queue, QueueEvents, Worker } from 'bullmq';
import { createSqliteBackend } from 'bullmq-sqlite';

// Every process that names the same file shares its queues.
const connection = { file: process.argv[2] ?? 'queue.db' };
const queue = new Queue('mail', { connection }, createSqliteBackend);
const events = new QueueEvents('mail', { connection }, createSqliteBackend);

const send = async (job: { data: { to: string } }) => `sent to ${job.data.to}`;
const worker = new Worker('mail', send, { connection, concurrency: 5 }, createSqliteBackend);

const jobs = [
  await queue.add('welcome', { to: 'ann@example.com' }),
  await queue.add('reminder', { to: 'bob@example.com' }, { delay: 100, attempts: 3 }),
];
for (const job of jobs) process.stdout.write(`${job.name}: ${await job.waitUntilFinished(events)}\n`);

await worker.close();
await events.close();
await queue.close();
