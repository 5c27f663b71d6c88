import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { SMTPServer, type SMTPServerDataStream } from 'smtp-server';

/** How the server answers a message: takes it, refuses it for now, or takes it and breaks the connection without an answer. */
export type MailBehaviour = 'take' | 'refuse' | 'break';

export interface Mail {
  subject: string;
  id: string;
  raw: string;
}

/** A real SMTP server on loopback that keeps what it takes, and does as it is told. */
export async function openMailServer(
  t: Pick<TestContext, 'after'>,
  usual: () => MailBehaviour = () => 'take',
) {
  const taken: Mail[] = [];
  const plan: MailBehaviour[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, callback) {
      // A sender that is killed in the middle of a mail breaks the stream: the server then has no mail.
      const whole = readAll(stream).catch(() => null);
      void whole.then((raw) => {
        if (raw === null) return;
        const behaviour = plan.shift() ?? usual();
        if (behaviour === 'refuse')
          return callback(Object.assign(new Error('try again later'), { responseCode: 451 }));
        taken.push({ raw, subject: headerOf(raw, 'Subject'), id: headerOf(raw, 'Message-ID') });
        if (behaviour === 'take') return callback();
        const { connection } = [...server.connections].map((one) => ({ connection: one })).at(-1) ?? {};
        Reflect.get(Object(connection), '_socket').destroy();
      });
      void session;
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { taken, plan, url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}` };
}

async function readAll(stream: SMTPServerDataStream): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

function headerOf(raw: string, name: string): string {
  const found = new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(raw);
  return (found?.[1] ?? '').replace(/\r\n[ \t]/g, ' ');
}
