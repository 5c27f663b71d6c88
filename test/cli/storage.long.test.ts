import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { type Sandbox, startSandbox } from '../laboratory/server.ts';
import { type CliResult, ENTRY } from '../support/cli.ts';
import { temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/launch.ts';
import { skipUnless } from '../support/programs.ts';

/** The explanation is made in one place, so a few commands stand for all. */
const CREATE = ['create', '--board', 'bugs', '--title', 'T'];
/** The superuser may do everything, so permissions are tried as somebody else. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

describe('a disk that refuses', skipUnless('prlimit'), () => {
  let sandbox: Sandbox;
  let home: string;
  before(async () => {
    sandbox = await startSandbox({ posts: 300, pageSize: 100 });
    home = temporaryFolder('disk');
    if (NOBODY.uid !== undefined) chownSync(home, NOBODY.uid, NOBODY.gid);
    assert.equal((await run(['sync'])).code, 0);
  });
  after(async () => {
    await sandbox.close();
    rmSync(home, { recursive: true, force: true });
  });

  function run(args: string[], env: Record<string, string> = {}, fileBytes?: number): Promise<CliResult> {
    const own = {
      PATH: process.env.PATH,
      FEEDBACK_BASE_URL: sandbox.url,
      FEEDBACK_API_TOKEN: 'sandbox',
      // The one of the checkout belongs to another user: each command would compile the whole program anew.
      NODE_COMPILE_CACHE: join(home, 'cache'),
      ...env,
    };
    const program = [process.execPath, ENTRY, ...args];
    const limited = fileBytes === undefined ? program : ['prlimit', `--fsize=${fileBytes}:`, ...program];
    const [command = '', ...rest] = limited;
    return new Promise((resolve) => {
      // A command that spins does not hear a polite signal.
      const options = { cwd: home, env: own, timeout: 30_000, killSignal: 'SIGKILL', ...NOBODY } as const;
      const child = execFile(command, rest, options, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      );
    });
  }

  /** Cause and remedy, and nothing that looks like a defect of ours. */
  function assertTold({ code, stderr }: CliResult, expected: number, cause: RegExp, args: string[]): void {
    assert.match(stderr, cause, args.join(' '));
    assert.doesNotMatch(stderr, /\n {4}at |no mirror at/, args.join(' '));
    assert.equal(code, expected, `${args.join(' ')}: ${stderr}`);
    assert.ok(stderr.trim().split('\n').length >= 2, `${args.join(' ')} says what to do: ${stderr}`);
  }

  it('is told with cause and remedy, exit 2, where no data folder can be made', async (t) => {
    writeFileSync(join(home, 'a-file'), '');
    mkdirSync(join(home, 'locked'), { mode: 0 });
    t.after(() => chmodSync(join(home, 'locked'), 0o700));
    const places: [dataDir: string, cause: RegExp][] = [
      ['a-file', /a-file\S*: (there is a file of that name|a part of the path is no folder)/],
      ['/proc/none', /\/proc\/none\S*: (a part of the path|no folder can be made|this user may not)/],
      ['locked/none', /locked\/none\S*: this user may not read or write there/],
    ];
    for (const [dataDir, cause] of places)
      assertTold(await run(['sync'], { DATA_DIR: dataDir }), 2, cause, ['sync']);
    for (const args of [['status'], ['query', 'SELECT count(*) FROM posts'], CREATE])
      assertTold(await run(args, { DATA_DIR: 'a-file' }), 2, /no folder/, args);
  });

  it('is told, exit 2, where the working folder is gone', async () => {
    const gone = [
      '-c',
      'mkdir gone; cd gone; rmdir ../gone; exec "$0" "$@"',
      process.execPath,
      ENTRY,
      'status',
    ];
    const child = spawn('sh', gone, { cwd: home });
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
    assertTold(
      { code: child.exitCode, stdout: '', stderr },
      2,
      /the working folder does not exist any more/,
      gone,
    );
  });

  it('is told, exit 2, where the mirror may not be read', async (t) => {
    const folder = join(home, 'data');
    const mirror = join(folder, 'mirror.db');
    t.after(() => chmodSync(folder, 0o700));
    for (const [path, mode] of [
      [mirror, 0o600],
      [folder, 0o700],
    ] as const) {
      chmodSync(path, 0);
      for (const args of [['status'], ['sync']])
        assertTold(await run(args), 2, /mirror\.db: this user may not read or write there/, args);
      chmodSync(path, mode);
    }
  });

  it('is told, exit 7, where the disk is full', async () => {
    const cause = /the disk (is full|cannot be read or written)|larger than this disk/;
    for (const args of [
      CREATE,
      ['sync'],
      ['backup', 'copy.db'],
      ['export', 'posts', '--format', 'csv', '--out', 'out/'],
    ]) {
      for (const rest of globSync('data/mirror.db-*', { cwd: home })) rmSync(join(home, rest));
      assertTold(await run(args, {}, 4096), 7, cause, args);
    }
    // The mirror can be opened, and the copy is too large: its folder is named, for it may be on another disk.
    const backup = ['backup', 'copy.db'];
    assertTold(await run(backup, {}, 40_960), 7, new RegExp(`${home}: the disk`), backup);
    const start = ['start', '--http-port', '0'];
    assertTold(await run(start, {}, 40_960), 7, cause, start);
    // With a port of its own, too, which it has taken before it opens its files.
    const port = ['start', '--http-port', String(await freePort())];
    assertTold(await run(port, {}, 4096), 7, cause, port);
    assert.equal((await run(['sync'])).code, 0, 'and goes on once there is room');
  });

  it('is told, exit 7, where the output goes to a full disk', async () => {
    const command = [process.execPath, ENTRY, 'config'];
    const child = spawn('sh', ['-c', 'exec "$0" "$@" > /dev/full', ...command], { cwd: home });
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
    assert.equal(child.exitCode, 7, stderr);
    assert.match(
      stderr,
      /the file that the output goes to: the disk is full .*\nMake room on the disk of the file that/,
    );
  });

  it('is told, exit 7, where a page of the mirror is damaged', async () => {
    const mirror = join(home, 'data/mirror.db');
    const good = readFileSync(mirror);
    const db = new Database(mirror, { readonly: true });
    const pages = db
      .prepare<[], number>("SELECT pageno FROM dbstat WHERE name IN ('posts', 'post_search_content')")
      .pluck()
      .all();
    db.close();
    const bad = Buffer.from(good);
    for (const page of pages) bad.fill(0xa5, (page - 1) * 4096, page * 4096);
    writeFileSync(mirror, bad);
    for (const args of [
      ['sync'],
      ['query', 'SELECT * FROM posts'],
      ['export', 'posts', '--format', 'csv', '--out', 'out/'],
      ['backup', 'copy.db'],
      ['doctor'],
    ]) {
      const { code, stdout, stderr } = await run(args);
      assert.match(stdout + stderr, /damaged/, args.join(' '));
      assert.doesNotMatch(stderr, /\n {4}at /, args.join(' '));
      assert.equal(code, 7, `${args.join(' ')}: ${stderr}`);
    }
    writeFileSync(mirror, good);
  });
});
