/** Posts one after the other on one connection: node bench/floors/push.ts http://127.0.0.1:9090 TOKEN 200 */
import { Client } from 'undici';

const [url = '', token = '', count = '0'] = process.argv.slice(2);
const client = new Client(url);
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const began = performance.now();
for (let n = 0; n < Number(count); n++) {
  const post = { board: 'bugs', title: `Sent by a loop, ${n}`, content: `${n} `.repeat(50) };
  const { statusCode, body } = await client.request({
    method: 'POST',
    path: '/api/v1/posts/create/',
    headers,
    body: JSON.stringify(post),
  });
  const answer = await body.json();
  if (statusCode >= 300) throw new Error(`${statusCode}: ${JSON.stringify(answer)}`);
}
process.stdout.write(`${(performance.now() - began) / 1000}\n`);
await client.close();
