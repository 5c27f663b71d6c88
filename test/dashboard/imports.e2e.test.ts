import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { BatchState } from '../../src/http/dashboard/batches.ts';
import type { ImportState, ShownDuplicates } from '../../src/http/dashboard/imports.ts';
import type { OutboxPage } from '../../src/http/dashboard/outbox.ts';
import { Uploads } from '../../src/http/dashboard/uploads.ts';
import { ask, detailOf, type Reply } from '../http/client.ts';
import { fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';
import { until } from '../support/until.ts';
import { openOnSandbox, type SandboxSite } from './site.ts';

const DAY = 24 * 3_600_000;

function send({ http }: SandboxSite, content: string, type = 'text/csv'): Promise<Reply> {
  return ask(http, '/data/imports', {
    method: 'POST',
    headers: { 'content-type': type, origin: http.url },
    body: content,
  });
}

async function upload(site: SandboxSite, content: string): Promise<ImportState> {
  const reply = await send(site, content);
  assert.equal(reply.status, 201, reply.body);
  return JSON.parse(reply.body) as ImportState;
}

async function rowsIn(site: SandboxSite): Promise<number> {
  return (await site.get<OutboxPage>('/data/outbox')).rows.length;
}

function tallyOf({ preview }: ImportState): number[] {
  assert.ok(preview?.ok, JSON.stringify(preview));
  const { rows, accepted, already, refused } = preview.tally;
  return [rows, accepted, already, refused];
}

async function compared(site: SandboxSite, id: string): Promise<ImportState> {
  let state: ImportState | null = null;
  await until('the rows are compared', async () => {
    state = await site.get<ImportState>(`/data/imports/${id}`);
    return state.comparison.isDone;
  });
  return state ?? assert.fail();
}

const FILE = 'board,title,content,email\nbugs,One,First,\nbugs,Two,Second,kim@example.com\nbugs,,No title,\n';

describe('importing over HTTP', () => {
  it('tells what a file would do, and writes nothing before it is told to', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const before = readdirSync(site.station.folder).sort();
    const state = await upload(site, FILE);
    assert.deepEqual(tallyOf(state), [3, 2, 0, 1]);
    assert.ok(state.preview?.ok);
    assert.deepEqual(state.preview.tally.refusals, [{ line: 4, reason: 'title is blank' }]);
    assert.deepEqual([state.preview.found.asOwner, state.preview.found.asNewCustomer], [1, 1]);
    assert.deepEqual(state.headers, ['board', 'title', 'content', 'email']);
    assert.equal(await rowsIn(site), 0);
    assert.deepEqual(readdirSync(site.station.folder).sort(), [...before, 'uploads'].sort());
    for (const name of readdirSync(join(site.station.folder, 'uploads')))
      assert.equal(statSync(join(site.station.folder, 'uploads', name)).mode & 0o777, 0o600, name);
  });

  it('imports what was previewed, once, however often that is asked for', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const { id } = await upload(site, FILE);
    const asked = [1, 2].map(() =>
      site.post<ImportState>(`/data/imports/${id}/commit`, { map: {}, board: null }),
    );
    const [first, second] = await Promise.all(asked);
    const third = await site.post<ImportState>(`/data/imports/${id}/commit`, { map: {}, board: null });
    for (const state of [first, second, third]) {
      const committed = state?.committed;
      assert.equal(committed?.result?.tally.accepted, 2);
      assert.equal(committed?.batch, first?.committed?.batch);
      assert.deepEqual(committed?.result?.batches, [first?.committed?.batch]);
      assert.equal((await site.get<BatchState>(`/data/batches/${committed?.batch}`)).counts.ready, 2);
    }
    assert.equal(await rowsIn(site), 2);
    const again = await upload(site, FILE);
    assert.deepEqual(tallyOf(again), [3, 0, 2, 1], 'the same file again holds nothing new');
    await site.post(`/data/imports/${again.id}/commit`, {});
    assert.equal(await rowsIn(site), 2);
  });

  it('shows the line of a mark on the first posts, and keeps it with the import', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const { id } = await upload(site, FILE);
    const choices = { map: {}, board: null, mark: 'Imported from Canny' };
    const { preview } = await site.post<ImportState>(`/data/imports/${id}/preview`, choices);
    assert.ok(preview?.ok);
    const [one, two] = preview.found.first.map(({ content }) => content);
    assert.match(one ?? '', /^First\n\nImported from Canny · Ref FM-[0-9A-Z]{8}$/);
    assert.match(two ?? '', /^Second\n\nImported from Canny · Ref FM-[0-9A-Z]{8}$/);
    assert.equal(preview.choices.mark, 'Imported from Canny');
    const long = await site.send(`/data/imports/${id}/preview`, { ...choices, mark: 'x'.repeat(81) });
    assert.equal(long.status, 400);
    assert.match(long.body, /one line of at most 80 characters/);
    const { committed } = await site.post<ImportState>(`/data/imports/${id}/commit`, choices);
    assert.equal(site.station.app.outbox.batch(committed?.batch ?? '')?.mark, 'Imported from Canny');
  });

  it('keeps an import that a stop of the service interrupts, to go on with it', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const rows = Array.from({ length: 5000 }, (_, n) => `bugs,Wish ${n},${'x'.repeat(1000)}\n`);
    const { id } = await upload(site, `board,title,content\n${rows.join('')}`);
    const asked = site.send(`/data/imports/${id}/commit`).catch(() => null);
    await until('the first rows are in', async () => (await rowsIn(site)) > 0);
    await site.http.close();
    const reply = await asked;
    assert.equal(reply?.status, 503, 'answered at once: nothing is written any more');
    const kept = readFileSync(join(site.station.folder, 'uploads', `${id}.json`), 'utf8');
    const { committed } = JSON.parse(kept) as { committed: ImportState['committed'] };
    assert.ok(committed, 'it was asked for');
  });

  it('reads the columns as it is told, and says what it cannot read', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const state = await upload(site, 'Anything,Why,email\nDark mode,It is bright,kim@example.com\n');
    assert.ok(state.preview && !state.preview.ok);
    assert.match(state.preview.problem, /has no title column/);
    assert.deepEqual(state.headers, ['Anything', 'Why', 'email'], 'to choose from');
    const read = async (map: object, board: string | null) =>
      (await site.post<ImportState>(`/data/imports/${state.id}/preview`, { map, board })).preview;
    const half = await read({ title: 'Anything' }, null);
    assert.ok(half && !half.ok);
    assert.match(half.problem, /no board/);
    const whole = await read({ title: 'Anything', content: 'Why' }, 'bugs');
    assert.ok(whole?.ok);
    assert.deepEqual([whole.tally.accepted, whole.found.asNewCustomer], [1, 1]);
    const anonymous = await read({ title: 'Anything', content: 'Why', email: null }, 'bugs');
    assert.ok(anonymous?.ok);
    assert.deepEqual([anonymous.found.asOwner, anonymous.found.asNewCustomer], [1, 0]);
    assert.deepEqual(anonymous.columns?.ignored, ['email']);
    assert.equal((await site.get<ImportState>(`/data/imports/${state.id}`)).preview?.choices.board, 'bugs');
  });

  it('takes a file whose names of columns are in another encoding, and reads it once that is chosen', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const reply = await ask(site.http, '/data/imports', {
      method: 'POST',
      headers: { 'content-type': 'text/csv', origin: site.http.url },
      body: Buffer.from('Tytu\xb3,Kategoria,Opis\nCiemny motyw,bugs,\xf3\xb3\xf3w\n', 'latin1'),
    });
    assert.equal(reply.status, 201, reply.body);
    const { id, preview } = JSON.parse(reply.body) as ImportState;
    assert.ok(preview && !preview.ok);
    assert.match(
      preview.problem,
      /^the header in line 1 has a byte that is not UTF-8 .* choose its encoding/,
    );
    assert.deepEqual(preview.questions, []);
    const read = await site.post<ImportState>(`/data/imports/${id}/preview`, { encoding: 'windows-1250' });
    assert.deepEqual(read.preview?.columns?.headers, ['Tytuł', 'Kategoria', 'Opis']);
    assert.deepEqual(tallyOf(read), [1, 1, 0, 0]);
  });

  it('reads a large file again and again, also where it stopped early', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const state = await upload(site, `Wish,Why\n${'Dark mode,It is bright\n'.repeat(4000)}`);
    assert.ok(state.preview && !state.preview.ok);
    const asked = [1, 2].map(() =>
      site.post<ImportState>(`/data/imports/${state.id}/preview`, { map: { title: 'Wish' }, board: 'bugs' }),
    );
    for (const { preview } of await Promise.all(asked)) {
      assert.ok(preview?.ok);
      assert.equal(preview.tally.accepted, 4000);
    }
  });

  it('asks about rows in the words of the command line, and imports once each question has an answer', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const rows = ['One,open', 'One,open', 'One,open', 'Two,open', 'Three,open', 'Four,Done'];
    const { id, preview } = await upload(
      site,
      `board,Title,Status,Votes\n${rows.map((row) => `bugs,${row},3\n`).join('')}`,
    );
    assert.ok(preview?.ok);
    assert.deepEqual(
      preview.questions.map(({ question, isBlocking }) => [question, isBlocking]),
      [
        ['Is “Title” the column of the titles?', true],
        ['Send finished rows too?', false],
      ],
    );
    assert.match(preview.lost ?? '', /statuses \(Status\), votes \(Votes\)/);
    assert.match(detailOf(await site.send(`/data/imports/${id}/commit`, {})), /comes 3 times/);
    assert.equal(await rowsIn(site), 0);
    const choices = { acceptRepeatedTitles: true, includeClosed: true };
    const answered = await site.post<ImportState>(`/data/imports/${id}/preview`, choices);
    assert.deepEqual(
      answered.preview?.questions.map(({ isBlocking }) => isBlocking),
      [false],
    );
    await site.post(`/data/imports/${id}/commit`, choices);
    assert.equal(await rowsIn(site), 6);
  });

  it('refuses JSON with the way to a CSV file', async (t) => {
    const site = await openOnSandbox(t);
    const reply = await send(site, '{"id":"5f","name":"Ideas","idOrganization":"x","cards":[]}');
    assert.equal(reply.status, 400);
    assert.match(detailOf(reply), /this is JSON of Trello; export it as CSV/i);
  });

  it('does not import a file a second time in another way', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const { id } = await upload(site, FILE);
    await site.post(`/data/imports/${id}/commit`, { map: {}, board: null });
    for (const step of ['commit', 'preview']) {
      const reply = await site.send(`/data/imports/${id}/${step}`, { map: {}, board: 'ideas' });
      assert.equal(reply.status, 400);
      assert.match(detailOf(reply), /imported already/);
    }
    assert.equal(await rowsIn(site), 2);
  });

  it('follows the rows and gives them back with what became of each', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const { id } = await upload(site, 'board,title\nbugs,"=1+1"\nbugs,Two\nbugs,\n');
    await site.post(`/data/imports/${id}/commit`, {});
    const [row] = (await site.get<OutboxPage>('/data/outbox')).rows;
    await site.post(`/data/outbox/${row?.id}/cancel`);
    const { committed } = await site.get<ImportState>(`/data/imports/${id}`);
    const { counts } = await site.get<BatchState>(`/data/batches/${committed?.batch}`);
    assert.deepEqual([counts.ready, counts.cancelled], [1, 1]);
    const { body, headers } = await ask(site.http, `/data/imports/${id}/results`);
    assert.match(String(headers['content-type']), /^text\/csv/);
    assert.match(String(headers['content-disposition']), /^attachment/);
    assert.deepEqual(body.trimEnd().split('\r\n').slice(1), [
      "bugs,'=1+1,ready,,,",
      'bugs,Two,cancelled,,,',
      'bugs,,refused,,,title is blank',
    ]);
  });

  it('shows texts of a file as they are', async (t) => {
    const site = await openOnSandbox(t);
    site.station.sandbox.world.editPost(3, { title: '<script>alert(document.domain)</script>' });
    await site.sweep();
    const { id, preview } = await upload(
      site,
      'board,title\n<b>none</b>,<script>alert(document.domain)</script>\n',
    );
    assert.ok(preview?.ok);
    assert.equal(preview.found.unknownBoards[0]?.board, '<b>none</b>');
    await compared(site, id);
    const { rows } = await site.get<ShownDuplicates>(`/data/imports/${id}/duplicates`);
    assert.deepEqual([rows[0]?.post_id, rows[0]?.title], [3, '<script>alert(document.domain)</script>']);
  });

  it('refuses what is too large, whether or not its size is told', async (t) => {
    const site = await openOnSandbox(t, { limitBytes: 1024 * 1024 });
    const large = `board,title\n${'bugs,Wish\n'.repeat(120_000)}`;
    const told = await send(site, large);
    assert.equal(told.status, 413);
    assert.match(detailOf(told), /larger than 1 MB/);
    const chunks = new ReadableStream({
      start(controller) {
        for (let at = 0; at < large.length; at += 65_536)
          controller.enqueue(Buffer.from(large.slice(at, at + 65_536)));
        controller.close();
      },
    });
    const streamed = await fetch(`${site.http.url}/data/imports`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: chunks,
      duplex: 'half',
    }).then(
      ({ status }) => status,
      () => 'cut off',
    );
    assert.ok(streamed === 413 || streamed === 'cut off', String(streamed));
    assert.deepEqual(await site.get('/data/imports/limits'), { bytes: 1024 * 1024 });
  });

  it('takes a file as text/csv only, from its own pages only', async (t) => {
    const site = await openOnSandbox(t);
    assert.equal((await send(site, FILE, 'text/plain')).status, 415);
    assert.equal((await send(site, JSON.stringify(FILE), 'application/json')).status, 400);
    assert.equal((await send(site, '')).status, 400);
    const headers = { 'content-type': 'text/csv', origin: 'http://evil.example' };
    assert.equal(
      (await ask(site.http, '/data/imports', { method: 'POST', headers, body: FILE })).status,
      403,
    );
    const other = await ask(site.http, '/data/outbox', {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: FILE,
    });
    assert.equal(other.status, 415, 'no other route takes one');
  });

  it('forgets a file that nobody asked about for a day', async (t) => {
    const clock = fakeClock();
    const site = await openOnSandbox(t, { clock });
    await site.sweep();
    const { id } = await upload(site, FILE);
    clock.advance(DAY - 1);
    await site.get(`/data/imports/${id}`);
    clock.advance(DAY - 1);
    await site.get(`/data/imports/${id}`);
    clock.advance(DAY);
    const reply = await ask(site.http, `/data/imports/${id}`);
    assert.equal(reply.status, 400);
    assert.match(detailOf(reply), /kept for a day/);
    assert.match(detailOf(await site.send(`/data/imports/${id}/commit`, {})), /kept for a day/);
    assert.match(detailOf(await ask(site.http, '/data/imports/..%2F..%2Fmirror.db')), /no longer here/);
  });

  it('keeps the last ten files only', async (t) => {
    const site = await openOnSandbox(t);
    const ids: string[] = [];
    for (let n = 0; n < 11; n++) ids.push((await upload(site, `board,title\nbugs,Wish ${n}\n`)).id);
    const statuses = await Promise.all(
      ids.map(async (id) => (await ask(site.http, `/data/imports/${id}`)).status),
    );
    assert.equal(statuses.filter((status) => status === 200).length, 10);
    assert.equal(statuses[10], 200);
  });

  it('stops at boards that nobody knows, and takes or drops each as the person says', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const { id, preview } = await upload(site, 'board,title\nWünsche,One\nAltes,Two\nBUGS,Three\n');
    assert.ok(preview?.ok);
    assert.deepEqual(
      preview.found.unknownBoards.map(({ board, rows }) => [board, rows]),
      [
        ['Wünsche', 1],
        ['Altes', 1],
      ],
    );
    const refused = await site.send(`/data/imports/${id}/commit`, {});
    assert.match(detailOf(refused), /No board is known by these names: "Wünsche"/);
    assert.equal(await rowsIn(site), 0);
    const choices = { boardMap: { Wünsche: 'Feature Requests', Altes: null } };
    const mapped = await site.post<ImportState>(`/data/imports/${id}/preview`, choices);
    assert.ok(mapped.preview?.ok);
    assert.deepEqual([mapped.preview.tally.accepted, mapped.preview.tally.skipped], [2, 1]);
    await site.post(`/data/imports/${id}/commit`, choices);
    const { rows } = await site.get<OutboxPage>('/data/outbox');
    assert.deepEqual(new Set(rows.map(({ board }) => board)), new Set(['bugs', 'feature-requests']));
  });

  it('keeps what two people choose in one file, one after the other and at once', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const { id } = await upload(site, 'board,title\nA,One\nB,Two\nC,Three\n');
    const choose = (change: object) => site.post<ImportState>(`/data/imports/${id}/preview`, change);
    await choose({ boardMap: { A: 'bugs' }, perMinute: 5 });
    await choose({ map: { email: null } });
    const states = await Promise.all([
      choose({ boardMap: { B: null } }),
      choose({ boardMap: { C: 'bugs' } }),
    ]);
    for (const { choices, preview } of [...states, await site.get<ImportState>(`/data/imports/${id}`)]) {
      assert.deepEqual(choices.boardMap, { A: 'bugs', B: null, C: 'bugs' });
      assert.deepEqual([choices.map, choices.perMinute], [{ email: null }, 5]);
      assert.deepEqual(preview?.choices, choices, 'and that is what was tried');
    }
  });

  it('leaves out likely duplicates, one by one or all of a kind, also when boards are chosen later', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const [a, b] = site.station.sandbox.world.posts();
    const { id } = await upload(
      site,
      `board,title\nnew,"${a?.title}"\nbugs,"${b?.title}"\nbugs,Nothing like it\n`,
    );
    const { comparison } = await compared(site, id);
    assert.deepEqual([comparison.checked, comparison.byKind.title], [3, { found: 2, skipped: 0 }]);
    const decide = (body: object) => site.post<ImportState>(`/data/imports/${id}/duplicates`, body);
    assert.deepEqual(tallyOf(await decide({ kind: 'title', skip: true })), [3, 1, 0, 0]);
    assert.deepEqual(tallyOf(await decide({ line: 3, skip: false })), [3, 2, 0, 0]);
    const choices = { boardMap: { new: 'bugs' } };
    const after = await site.post<ImportState>(`/data/imports/${id}/preview`, choices);
    assert.deepEqual(after.comparison.byKind.title, { found: 2, skipped: 1 });
    await site.post(`/data/imports/${id}/commit`, choices);
    const { rows } = await site.get<OutboxPage>('/data/outbox');
    assert.deepEqual(new Set(rows.map(({ title }) => title)), new Set([b?.title, 'Nothing like it']));
  });

  it('tells how long it takes at a pace of its own, and pauses, resumes, cancels and gives back its rows', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const { id } = await upload(site, 'board,title,key\nbugs,One,a\nbugs,Two,b\n');
    const choices = { perMinute: 2 };
    const { preview } = await site.post<ImportState>(`/data/imports/${id}/preview`, choices);
    assert.ok(preview?.ok);
    assert.deepEqual([preview.estimate.perMinute, preview.estimate.ms], [2, 60_000]);
    const { committed } = await site.post<ImportState>(`/data/imports/${id}/commit`, choices);
    const path = `/data/batches/${committed?.batch}`;
    const state = (): Promise<BatchState> => site.get<BatchState>(path);
    assert.equal((await state()).told?.per_minute, 2);
    await site.post(`${path}/pause`);
    assert.equal((await state()).estimate, null);
    await site.post(`${path}/resume`);
    assert.equal((await state()).estimate?.rows, 2);
    await site.post(`${path}/cancel`);
    assert.equal((await state()).counts.cancelled, 2);
    assert.match(detailOf(await site.send(`${path}/resume`)), /was cancelled, and cannot be resumed/);
    const { body } = await ask(site.http, `${path}/rows.csv?state=cancelled`);
    assert.deepEqual(body.trimEnd().split('\r\n').slice(1), [
      'bugs,One,,,,a,cancelled,,,',
      'bugs,Two,,,,b,cancelled,,,',
    ]);
    await site.post(`${path}/retry`, { state: 'cancelled' });
    assert.equal((await state()).counts.ready, 2);
  });
});

describe('uploads', () => {
  it('are there again after the service was killed, with the choices made and the import begun', async (t) => {
    const options = {
      folder: folderFor(t, 'uploads'),
      clock: fakeClock(),
      limitBytes: 1000,
      onDrop: () => {},
    };
    const first = new Uploads(options);
    const file = async function* () {
      yield Buffer.from(FILE);
    };
    const { id, choices } = await first.take(file());
    const upload = await first.find(id);
    upload.choices = { ...choices, board: 'bugs' };
    upload.committed = { choices: upload.choices, batch: 'import-1', result: null, work: null };
    await first.save(upload);
    await first.close();
    const second = new Uploads({ ...options, clock: systemClock });
    t.after(() => second.close());
    const [again] = await second.interrupted();
    assert.deepEqual([again?.id, again?.choices.board, again?.committed?.batch], [id, 'bugs', 'import-1']);
  });
});
