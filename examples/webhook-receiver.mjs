// A webhook receiver that checks signatures, without a library: node webhook-receiver.mjs
// WEBHOOK_SECRET is the one of the mirror, PORT the port to listen on.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const key = Buffer.from((process.env.WEBHOOK_SECRET ?? '').replace(/^whsec_/, ''), 'base64');
if (key.length < 24) throw new Error('Set WEBHOOK_SECRET to the secret of the mirror.');

/** Older messages are refused, so that nobody can send a recorded one again. */
const TOLERANCE_S = 5 * 60;

/** The ids of messages that were handled. A real receiver keeps them in its database, in the transaction that handles the message. */
const handled = new Set();

function isSigned({ 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': given = '' }, body) {
  if (Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE_S) return false;
  const wanted = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest();
  return given.split(' ').some((one) => {
    const signature = Buffer.from(one.replace(/^v1,/, ''), 'base64');
    return one.startsWith('v1,') && signature.length === wanted.length && timingSafeEqual(signature, wanted);
  });
}

const server = createServer(async (request, response) => {
  const body = await text(request);
  const id = request.headers['webhook-id'];
  if (!isSigned(request.headers, body)) return response.writeHead(401).end('wrong signature\n');
  if (!handled.has(id)) {
    const { type, data } = JSON.parse(body);
    console.log(type, data.post?.title ?? '');
    handled.add(id);
  }
  // Answer with 2xx only after the message is handled: until then the mirror sends it again.
  response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log('listening on', server.address().port));
