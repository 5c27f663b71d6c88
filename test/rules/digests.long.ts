import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { openBench } from './bench.ts';
import { type MailBehaviour, openMailServer } from './mail-server.ts';

/**
 * `npm run digests -- [messages] [seed]`: so many digests to a real SMTP server that refuses, and breaks connections after it took a
 * mail, by processes that are killed. Fails if one is lost, or doubled without saying so.
 */
const [wanted, seed] = [Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 1)];
let state = seed;
const random = (): number => {
  state = (state * 1664525 + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const after: (() => unknown)[] = [];
const scope = { after: (undo: () => unknown) => void after.push(undo) } as unknown as TestContext;

const behaviour = (): MailBehaviour => {
  const n = random();
  return n < 0.1 ? 'refuse' : n < 0.15 ? 'break' : 'take';
};
const mail = await openMailServer(scope, behaviour);
const file = {
  channels: { pm: { mail: ['pm@example.com'] } },
  rules: [{ name: 'daily', what: 'digest', every: 'daily', to: ['pm'] }],
};
const { path, env, deps } = await openBench(scope, file, {
  SMTP_URL: mail.url,
  MAIL_FROM: 'feedback@example.com',
});
const db = new Database(path);
deps.store.state('daily', 0, 0);
for (let n = 0; n < wanted; n++) {
  const at = Date.parse('2023-01-01T09:00:00Z') + n * 86_400_000;
  const key = new Date(at).toISOString();
  const message = { key, since: at - 86_400_000, items: [], channels: ['pm'] };
  deps.store.commit({ name: 'daily', position: 0, at, slot: at, message });
}
const due = Number(db.prepare("SELECT count(*) FROM rule_deliveries WHERE state = 'waiting'").pluck().get());
const open = db.prepare("SELECT count(*) FROM rule_deliveries WHERE state IN ('waiting', 'sending')").pluck();
const dueNow = db.prepare("UPDATE rule_deliveries SET not_before = NULL WHERE state = 'waiting'");

let [kills, runs] = [0, 0];
for (; Number(open.get()) > 0 && runs < 10 * wanted; runs++) {
  dueNow.run();
  const script = new URL('./child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const timer = random() < 0.5 ? setTimeout(() => child.kill('SIGKILL'), 600 + random() * 1500) : undefined;
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  clearTimeout(timer);
  if (signal !== null) kills++;
}

const byId = Map.groupBy(mail.taken, ({ id }) => id);
const silent = [...byId.values()].filter((mails) =>
  mails.slice(1).some(({ subject }) => !subject.startsWith('[repeated]')),
);
const doubled = [...byId.values()].filter((mails) => mails.length > 1).length;
process.stdout.write(
  `${due} digests, ${runs} processes, ${kills} killed, ${byId.size} arrived, ${doubled} more than once, ${silent.length} of them without saying so\n`,
);
db.close();
for (const undo of after.reverse()) await undo();
if (byId.size !== due || silent.length > 0) process.exitCode = 1;
