import { hash } from 'node:crypto';
import { messageOf } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import type { Channel } from '../contract/telling.ts';
import { replaceAddresses } from '../text/addresses.ts';
import { headersOf } from '../webhooks/message.ts';
import type { WebhookSender } from '../webhooks/send.ts';
import { asHtml, asSlack, asTeams, asText, subjectOf } from './forms.ts';
import type { Letter } from './letter.ts';

/** What became of an attempt. `unclear`: there was no answer, so the channel may have the message. */
export type ChannelOutcome =
  | { kind: 'sent' }
  | { kind: 'refused' | 'unclear'; error: string; isFinal: boolean };

/** A message on its way to one channel. */
export interface ChannelMessage {
  letter: Letter;
  /** The same for every attempt: receivers know by it what they already had. */
  id: string;
  rule: string;
}

export interface MailSettings {
  url: Secret;
  from: string;
}

export interface ChannelContext {
  webhooks: WebhookSender;
  /** Null where SMTP_URL is not set. */
  mail: MailSettings | null;
  signal: AbortSignal;
  now(): number;
}

export async function send(
  sending: ChannelContext,
  channel: Channel,
  parcel: ChannelMessage,
): Promise<ChannelOutcome> {
  if (channel.kind === 'mail') return await mailed(sending, channel.to, parcel);
  return await posted(sending, channel, parcel);
}

async function posted(
  { webhooks, signal, now }: ChannelContext,
  channel: Exclude<Channel, { kind: 'mail' }>,
  { letter, id, rule }: ChannelMessage,
): Promise<ChannelOutcome> {
  const bodies = {
    slack: () => asSlack(letter),
    teams: () => asTeams(letter),
    webhook: () => ({
      type: 'rule.message',
      timestamp: new Date(now()).toISOString(),
      data: { rule, id, ...letter },
    }),
  };
  const body = JSON.stringify(bodies[channel.kind]());
  const headers = headersOf(id, body, channel.kind === 'webhook' ? channel.key : null, now());
  const { status, error } = await webhooks.post({ url: channel.url.reveal(), headers, body }, signal);
  if (error === null) return { kind: 'sent' };
  const isAnswered = status !== null || NOT_CONNECTED.test(error);
  return { kind: isAnswered ? 'refused' : 'unclear', error: shown(error), isFinal: status === 410 };
}

/** Words of errors after which no byte of the message can have left. */
const NOT_CONNECTED = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|has no address|private network|without encryption/;

const [CONNECT_MS, ANSWER_MS] = [10_000, 30_000];

async function mailed(
  { mail }: ChannelContext,
  to: readonly string[],
  { letter, id }: ChannelMessage,
): Promise<ChannelOutcome> {
  if (mail === null) return { kind: 'refused', error: 'SMTP_URL and MAIL_FROM are not set', isFinal: false };
  // Only where mail is sent: loading it takes as long as a small command.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: mail.url.reveal(),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: ANSWER_MS,
  });
  try {
    await transport.sendMail({
      from: mail.from,
      to: [...to],
      subject: subjectOf(letter),
      text: asText(letter),
      html: asHtml(letter),
      messageId: `<${id}@${domainOf(mail.from)}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    return { kind: 'sent' };
  } catch (error) {
    return mailFailure(error);
  } finally {
    transport.close();
  }
}

function domainOf(from: string): string {
  return /@([^\s>@]+)/.exec(from)?.[1] ?? 'feedback-mirror.invalid';
}

/** Codes of nodemailer for what fails before the text of the message is sent. */
const BEFORE_TEXT = new Set(['EDNS', 'EAUTH', 'ETLS', 'EENVELOPE', 'ENOAUTH', 'ECONFIG', 'EPROXY']);

/** nodemailer names a connection that breaks at any time by the same code: these words come before the text only. */
const NO_GREETING = /^Connection timeout|^Greeting never received/;

/** A server that answers with a number has refused. Without an answer after the text began, it may have taken the message. */
function mailFailure(error: unknown): ChannelOutcome {
  const { code, syscall, responseCode } = Object(error) as Record<string, unknown>;
  const isBefore =
    BEFORE_TEXT.has(String(code)) || syscall === 'connect' || NO_GREETING.test(messageOf(error));
  const isRefused = typeof responseCode === 'number' || isBefore;
  // The text of an error can quote an address of a receiver.
  return { kind: isRefused ? 'refused' : 'unclear', error: shown(messageOf(error)), isFinal: false };
}

function shown(error: string): string {
  return replaceAddresses(error, () => '[e-mail]').slice(0, 300);
}

/** An id that tells the message and the channel, and nothing of what either is called. */
export function channelMessageId(mirrorId: string, rule: string, key: string, channel: string): string {
  return `rule_${hash('sha256', JSON.stringify([mirrorId, rule, key, channel])).slice(0, 32)}`;
}
