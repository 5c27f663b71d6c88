import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from '../../src/api/client.ts';
import { createRateLimit, type RateLimit } from '../../src/api/rate-limit.ts';
import { walkPages } from '../../src/api/walk.ts';
import { AppError } from '../../src/base/errors.ts';
import type { Post } from '../../src/contract/decode.ts';
import { fakeClock } from '../support/clock.ts';
import { range } from '../support/rows.ts';
import { until } from '../support/until.ts';
import {
  all,
  clientOf,
  envelope,
  failureOf,
  json,
  post,
  startSocketServer,
  startUpstream,
} from './support/upstream.ts';

const idsOf = (pages: Page<Post>[]): number[] => pages.flatMap(({ rows }) => rows.map(({ id }) => id));
const pageOf = (request: IncomingMessage): number =>
  Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? 1);

/** A list of so many pages with two rows each, by page number. */
function numbered(pages: number) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const n = pageOf(request);
    if (n > pages) json(response, { detail: 'no such page' }, 404);
    else json(response, envelope([n * 2 - 1, n * 2], n < pages ? `?page=${n + 1}` : null));
  };
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

async function protocolError(promise: Promise<unknown>): Promise<AppError> {
  const error = await failureOf(promise);
  assert.ok(error instanceof AppError && error.code === 'protocol', String(error));
  return error;
}

describe('a walk', () => {
  for (const ahead of [0, 1, 4, 20]) {
    it(`brings every page once and in order, with ${ahead} ahead`, async (t) => {
      const upstream = await startUpstream(t, numbered(9));
      const pages = await all(clientOf(t, upstream.url).posts({ ahead }));
      assert.deepEqual(idsOf(pages), upTo(18));
      assert.deepEqual(
        pages.map(({ number }) => number),
        upTo(9),
      );
      assert.deepEqual(pages.map(({ cursor }) => cursor).slice(0, 3), ['', 'page=2', 'page=3']);
      assert.deepEqual(pages.map(({ next }) => next).slice(-2), ['page=9', null]);
    });
  }

  it('tells which rows an earlier page has shown', async (t) => {
    const lists = [
      [1, 2, 2],
      [3, 1, 4],
    ];
    const upstream = await startUpstream(t, (request, response) => {
      const n = pageOf(request);
      json(response, envelope(lists[n - 1] ?? [], n < lists.length ? '?page=2' : null));
    });
    const pages = await all(clientOf(t, upstream.url).posts());
    assert.deepEqual(
      pages.map(({ repeated }) => [...(repeated ?? [])]),
      [[], [1]],
    );
  });

  it('resumes at a cursor', async (t) => {
    const upstream = await startUpstream(t, numbered(5));
    const pages = await all(clientOf(t, upstream.url).posts({ from: 'page=4' }));
    assert.deepEqual(idsOf(pages), [7, 8, 9, 10]);
    assert.deepEqual(
      pages.map(({ number }) => number),
      [1, 2],
    );
  });

  it('reads the following page while the current one is worked on, and no further', async (t) => {
    const upstream = await startUpstream(t, numbered(9));
    for await (const page of clientOf(t, upstream.url).posts()) {
      if (page.number < 9)
        await until('the request has come', () => upstream.requests.length >= page.number + 1);
      await new Promise(setImmediate);
      assert.equal(upstream.requests.length, Math.min(9, page.number + 1));
    }
  });

  it('shows an error only when the turn of its page comes', async (t) => {
    const upstream = await startUpstream(t, (request, response) =>
      pageOf(request) === 2 ? json(response, 'no', 410) : json(response, envelope([1], 2)),
    );
    const walkPages = clientOf(t, upstream.url).posts();
    const first = await walkPages.next();
    await until('the request has come', () => upstream.requests.length >= 2);
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
    assert.equal(first.done, false);
    const error = await failureOf(walkPages.next());
    assert.ok(error instanceof AppError && error.code === 'refused');
    assert.match(error.message, /page 2 \(page=2\)/);
    assert.deepEqual(await walkPages.next(), { done: true, value: undefined });
  });

  for (const ahead of [0, 1])
    it(`ends where the last page is gone and the one before has become the last, with ${ahead} ahead`, async (t) => {
      const asked: number[] = [];
      const upstream = await startUpstream(t, (request, response) => {
        const n = pageOf(request);
        asked.push(n);
        numbered(asked.includes(4) ? 3 : 4)(request, response);
      });
      const pages = await all(clientOf(t, upstream.url).posts({ ahead }));
      assert.deepEqual(
        pages.map(({ number, cursor, rows, next }) => [number, cursor, rows.length, next]),
        [
          [1, '', 2, 'page=2'],
          [2, 'page=2', 2, 'page=3'],
          [3, 'page=3', 2, 'page=4'],
          [4, 'page=4', 0, null],
        ],
      );
    });

  it('fails where a page is refused and the one before says again that there is more', async (t) => {
    const upstream = await startUpstream(t, (request, response) =>
      pageOf(request) === 3 ? json(response, { detail: 'no' }, 404) : numbered(4)(request, response),
    );
    const error = await failureOf(all(clientOf(t, upstream.url).posts()));
    assert.ok(error instanceof AppError && error.code === 'refused');
    assert.match(error.message, /page 3 \(page=3\)/);
  });

  it('ends only at an explicit null', async (t) => {
    const upstream = await startUpstream(t, (_, response, n) =>
      json(response, envelope(n === 1 ? [1] : [], n < 3 ? n + 1 : null)),
    );
    assert.equal((await all(clientOf(t, upstream.url).posts())).length, 3);
  });
});

describe('a walkPages in circles', () => {
  it('stops where `next` was seen before', async (t) => {
    const upstream = await startUpstream(t, (request, response) =>
      json(response, envelope([pageOf(request) * 10 + upstream.requests.length], (pageOf(request) % 3) + 1)),
    );
    const error = await protocolError(all(clientOf(t, upstream.url).posts({ from: 'page=1' })));
    assert.match(error.message, /page 3 \(page=3\).*circles/);
  });

  it('stops where `next` leads to the page it is on', async (t) => {
    const upstream = await startUpstream(t, (_, response, n) => json(response, envelope([n], '?page=2')));
    await protocolError(all(clientOf(t, upstream.url).posts()));
  });

  it('stops where `next` leads to the first page', async (t) => {
    const upstream = await startUpstream(t, (_, response, n) =>
      json(response, envelope([n], '/api/v1/posts/')),
    );
    await protocolError(all(clientOf(t, upstream.url).posts()));
  });
});

describe('a walkPages that brings nothing new', () => {
  /** How many pages a walkPages brings until it fails, and what it says then. */
  async function refusal(t: TestContext, page: (n: number) => unknown[]): Promise<[number, string]> {
    const upstream = await startUpstream(t, (_, response, n) =>
      json(response, { next: n + 1, results: page(n) }),
    );
    let pages = 0;
    const { message } = await protocolError(
      (async () => {
        for await (const { number } of clientOf(t, upstream.url).posts()) pages = number;
      })(),
    );
    assert.doesNotMatch(message, /circle/);
    return [pages, message];
  }

  for (const [fresh, most] of [
    [1, 4],
    [5, 8],
  ] as const)
    it(`stops where more than ${most} pages repeat rows after ${fresh} with new ones`, async (t) => {
      const [pages, message] = await refusal(t, (n) => [n % fresh, 100].map(post));
      assert.equal(pages, fresh + most);
      assert.match(
        message,
        new RegExp(`the last ${most + 1} pages brought no new id: the list does not end`),
      );
    });

  it('stops also where pages without rows come between those that repeat some', async (t) => {
    const [pages, message] = await refusal(t, (n) => (n % 2 === 1 ? [post(1)] : []));
    assert.equal(pages, 10);
    assert.match(message, /the last 10 pages brought no new id/);
  });

  /** A walkPages without a server, which would take seconds for so many pages. */
  function walkOver(page: (n: number) => { ids: number[]; nulls: number }, last: number) {
    return walkPages<{ id: number }>(
      async (cursor, number) => ({
        ...{ number, cursor, next: number < last ? `page=${number + 1}` : null },
        ...{ serverTime: null, receivedAt: 0, bytes: 0 },
        decode() {
          const { ids, nulls } = page(number);
          const rejects = Array.from({ length: nulls }, (_, index) => ({ index, id: null, reason: 'null' }));
          return {
            rows: ids.map((id) => ({ id })),
            rejects: rejects.map((one) => ({ ...one, body: 'null' })),
          };
        },
      }),
      {},
      (failure) => failure,
    );
  }

  for (const [what, nulls] of [
    ['without rows', 0],
    ['of rows that are null', 2],
  ] as const) {
    const between = (n: number) => ({ ids: n === 1 || n === 1002 ? [n] : [], nulls });

    it(`stops where more than 1,000 pages ${what} come in a row`, async () => {
      let pages = 0;
      const error = await failureOf(
        (async () => {
          for await (const { number } of walkOver(() => between(2), 2000)) pages = number;
        })(),
      );
      assert.equal(pages, 1000);
      assert.match(
        String(error),
        /the last 1,001 pages had no rows, and `next` says again that there is more/,
      );
    });

    it(`brings the rows behind 1,000 pages ${what}`, async () => {
      const pages = await all(walkOver(between, 1002));
      assert.deepEqual(
        pages.flatMap(({ rows }) => rows.map(({ id }) => id)),
        [1, 1002],
      );
    });
  }

  it('brings the rows behind pages of rows that are null', async (t) => {
    const upstream = await startUpstream(t, (_, response, n) =>
      json(response, n < 10 ? { next: n + 1, results: [null, null] } : envelope([n], null)),
    );
    assert.deepEqual(idsOf(await all(clientOf(t, upstream.url).posts())), [10]);
  });

  it('goes on where rows that are inserted above shift everything that was read once more', async (t) => {
    const ids = range(1, 20).toReversed();
    const upstream = await startUpstream(t, (request, response) => {
      const n = pageOf(request);
      if (n === 6 && ids.length === 20) ids.unshift(...range(101, 110).toReversed());
      json(response, envelope(ids.slice(n * 2 - 2, n * 2), n * 2 < ids.length ? `?page=${n + 1}` : null));
    });
    const pages = await all(clientOf(t, upstream.url).posts({ ahead: 0 }));
    assert.deepEqual(new Set(idsOf(pages)), new Set(range(1, 20)));
    assert.equal(pages.filter(({ rows, repeated }) => rows.length === repeated?.size).length, 5);
  });

  it('ends where the last of many pages that repeat rows says that it is the last', async (t) => {
    const upstream = await startUpstream(t, (_, response, n) =>
      json(response, envelope([1, 2], n < 6 ? n + 1 : null)),
    );
    assert.equal((await all(clientOf(t, upstream.url).posts())).length, 6);
  });

  for (const id of [5, -5, '5'])
    it(`stops where all rows are broken in the same way, with the id ${JSON.stringify(id)}`, async (t) => {
      assert.equal((await refusal(t, () => [{ id }]))[0], 5);
    });

  it('stops where pages repeat broken rows whose ids cannot be read', async (t) => {
    assert.equal((await refusal(t, (n) => [{ id: `${n % 2}` }]))[0], 7);
  });

  it('does not stop at broken rows whose ids cannot be read, as long as no page repeats them', async (t) => {
    const broken = (n: number) => [
      { id: `${n}` },
      // As a double the same number for every n.
      { id: 2 ** 60 + n, title: `Post ${n}` },
    ];
    const upstream = await startUpstream(t, (_, response, n) =>
      json(response, n < 8 ? { next: n + 1, results: broken(n).slice(n % 2) } : envelope([n], null)),
    );
    assert.deepEqual(idsOf(await all(clientOf(t, upstream.url).posts())), [8]);
  });

  it('does not stop at broken rows with ids of their own', async (t) => {
    const upstream = await startUpstream(t, (_, response, n) =>
      json(response, { next: n < 8 ? n + 1 : null, results: [{ id: n }] }),
    );
    assert.equal((await all(clientOf(t, upstream.url).posts())).length, 8);
  });
});

describe('a walkPages that is left', () => {
  async function slow(t: TestContext) {
    const upstream = await startUpstream(t, (request, response) => {
      if (pageOf(request) === 1) json(response, envelope([1], 2));
    });
    const answers: (number | null)[] = [];
    const rateLimit: RateLimit = {
      ...createRateLimit(fakeClock()),
      record: (status) => void answers.push(status),
    };
    /** Given up by ourselves, before any timeout: that says nothing about the upstream. */
    const isGivenUp = async (): Promise<void> => {
      await until('the second request is given up', () => upstream.requests[1]?.socket.destroyed === true);
      assert.deepEqual(answers, [200]);
    };
    return { upstream, client: clientOf(t, upstream.url, { rateLimit }), isGivenUp };
  }

  it('calls off what is under way', async (t) => {
    const { upstream, client, isGivenUp } = await slow(t);
    for await (const page of client.posts()) {
      assert.equal(page.number, 1);
      await until('the request has come', () => upstream.requests.length >= 2);
      break;
    }
    await isGivenUp();
  });

  it('by an error of its consumer calls off what is under way', async (t) => {
    const { upstream, client, isGivenUp } = await slow(t);
    const reading = (async () => {
      for await (const page of client.posts()) {
        await until('the request has come', () => upstream.requests.length >= 2);
        throw new Error(`no taste for page ${page.number}`);
      }
    })();
    await assert.rejects(reading, /no taste for page 1/);
    await isGivenUp();
  });

  it('by its signal ends with the reason', async (t) => {
    const { upstream, client, isGivenUp } = await slow(t);
    const controller = new AbortController();
    const reason = new Error('enough');
    const walkPages = client.posts({ signal: controller.signal });
    await walkPages.next();
    const second = failureOf(walkPages.next());
    await until('the request has come', () => upstream.requests.length >= 2);
    controller.abort(reason);
    assert.equal(await second, reason);
    await isGivenUp();
  });

  it('by its signal while the consumer works ends with the reason too', async (t) => {
    const { client } = await slow(t);
    const controller = new AbortController();
    const reason = new Error('enough');
    const walkPages = client.posts({ signal: controller.signal });
    await walkPages.next();
    controller.abort(reason);
    assert.equal(await failureOf(walkPages.next()), reason);
  });

  it('before it began asks for nothing', async (t) => {
    const { upstream, client } = await slow(t);
    await client.posts().return();
    await failureOf(client.posts({ signal: AbortSignal.abort(new Error('enough')) }).next());
    assert.equal(upstream.connections(), 0);
  });
});

describe('a walkPages with several pages ahead', () => {
  it('has them under way together once the step is known', async (t) => {
    let most = 0;
    let running = 0;
    const answer = numbered(12);
    const waiting: (() => void)[] = [];
    const upstream = await startUpstream(t, (request, response) => {
      running += 1;
      most = Math.max(most, running);
      const go = (): void => {
        running -= 1;
        answer(request, response);
      };
      if (pageOf(request) < 3) return go();
      // Answered in reverse once four are waiting, so that order cannot come from the network.
      waiting.push(go);
      if (waiting.length === 4 || pageOf(request) >= 12)
        for (const next of waiting.splice(0).reverse()) next();
    });
    const pages = await all(clientOf(t, upstream.url).posts({ ahead: 4 }));
    assert.deepEqual(idsOf(pages), upTo(24));
    assert.equal(most, 4);
  });

  it('has one under way from the first 429 on, and asks again only for pages whose turn has come', async (t) => {
    const answer = numbered(30);
    const refused: (() => void)[] = [];
    const upstream = await startUpstream(t, (request, response) => {
      if (pageOf(request) < 3 || refused.length === 3) return answer(request, response);
      refused.push(() => json(response, { detail: 'One at a time.' }, 429));
      if (refused.length === 3) for (const refuse of refused) refuse();
    });
    const client = clientOf(t, upstream.url, { clock: fakeClock() });
    assert.deepEqual(idsOf(await all(client.posts({ ahead: 4 }))), upTo(60));
    assert.equal(upstream.requests.length, 30 + refused.length);
  });

  it('begins with the first page where the second is called page 2', async (t) => {
    const answer = numbered(6);
    const waiting: (() => void)[] = [];
    const upstream = await startUpstream(t, (request, response) => {
      if (pageOf(request) === 1) return answer(request, response);
      // None of them is answered before all four have been asked for.
      waiting.push(() => answer(request, response));
      if (waiting.length >= 4) for (const next of waiting.splice(0, 10)) next();
      else if (upstream.requests.length > 5) waiting.shift()?.();
    });
    assert.deepEqual(idsOf(await all(clientOf(t, upstream.url).posts({ ahead: 4 }))), upTo(12));
    assert.deepEqual(upstream.requests.slice(0, 5).map(pageOf).sort(), [1, 2, 3, 4, 5]);
  });

  it('works with an offset among other parameters', async (t) => {
    const upstream = await startUpstream(t, (request, response) => {
      const offset = Number(new URL(request.url ?? '', 'http://x').searchParams.get('offset') ?? 0);
      json(
        response,
        envelope([offset + 1, offset + 2], offset < 20 ? `?limit=2&offset=${offset + 2}&x=1` : null),
      );
    });
    assert.deepEqual(idsOf(await all(clientOf(t, upstream.url).posts({ ahead: 3 }))), upTo(22));
  });

  it('drops what it guessed where `next` takes another way, and goes on one by one', async (t) => {
    const upstream = await startUpstream(t, (request, response) => {
      const n = pageOf(request);
      const next = n === 4 ? 50 : n === 59 ? null : n + 1;
      json(response, envelope([n], next));
    });
    const pages = await all(clientOf(t, upstream.url).posts({ ahead: 3 }));
    assert.deepEqual(idsOf(pages), [1, 2, 3, 4, ...upTo(10).map((i) => i + 49)]);
    const asked = upstream.requests.map(pageOf);
    assert.ok(
      asked.filter((n) => n > 50).every((n, i) => n === 51 + i),
      'no guesses after the first wrong one',
    );
  });

  it('does not mind an error of a page that was never on the way', async (t) => {
    const upstream = await startUpstream(t, numbered(4));
    assert.equal((await all(clientOf(t, upstream.url).posts({ ahead: 10 }))).length, 4);
  });

  it('asks again for a guessed page that did not exist yet when it was asked for', async (t) => {
    let refusals = 0;
    const answer = numbered(9);
    const upstream = await startUpstream(t, (request, response) => {
      if (pageOf(request) !== 6 || refusals > 0) return answer(request, response);
      refusals += 1;
      json(response, 'not yet', 404);
    });
    assert.deepEqual(idsOf(await all(clientOf(t, upstream.url).posts({ ahead: 4 }))), upTo(18));
  });

  it('does not guess with opaque cursors or numbers that go down', async (t) => {
    for (const style of [(n: number) => `abc${n}`, (n: number) => `before=${1000 - n * 7}`]) {
      const upstream = await startUpstream(t, (_, response, n) =>
        json(response, envelope([n], n < 6 ? style(n) : null)),
      );
      assert.equal((await all(clientOf(t, upstream.url).posts({ ahead: 5 }))).length, 6);
      assert.equal(upstream.requests.length, 6);
    }
  });
});

describe('a `next` that leads away', () => {
  it('reaches no other host: not one connection, whether it is followed here or refused', async (t) => {
    const recorder = await startSocketServer(t, (socket) => socket.destroy());
    const { port } = recorder;
    let next = '';
    const upstream = await startUpstream(t, (request, response) =>
      json(response, pageOf(request) === 2 ? envelope([2], null) : envelope([1], next)),
    );
    const client = clientOf(t, upstream.url);
    const own = new URL(upstream.url).host;
    const path = '/api/v1/posts/?page=2';
    for (next of [
      `http://127.0.0.1:${port}${path}`,
      `//127.0.0.1:${port}${path}`,
      `http://[::1]:${port}${path}`,
      `http://[::ffff:127.0.0.1]:${port}${path}`,
      `http://localhost:${port}${path}`,
      `http://0x7f000001:${port}${path}`,
      `http://169.254.169.254${path}`,
    ])
      assert.deepEqual(idsOf(await all(client.posts())), [1, 2]);
    for (next of [
      `http://${own}@127.0.0.1:${port}${path}`,
      `http://user:pass@${own}${path}`,
      `\\\\127.0.0.1:${port}${path}`,
      `/\\127.0.0.1:${port}${path}`,
      `http:\\\\127.0.0.1:${port}${path}`,
      `http://127.0.0.1:${port}/elsewhere/?page=2`,
      `ws://127.0.0.1:${port}${path}`,
    ]) {
      const error = await protocolError(all(client.posts()));
      assert.match(error.message, /leads away/);
      assert.match(error.hint ?? '', /Nothing was sent there/);
    }
    assert.equal(recorder.connections(), 0);
  });
});
