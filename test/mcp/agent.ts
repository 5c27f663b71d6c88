import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type Sandbox, startSandbox } from '../laboratory/server.ts';
import { ENTRY, runCli } from '../support/cli.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

export interface Mirrored {
  sandbox: Sandbox;
  env: Record<string, string>;
  cli(...args: string[]): Promise<string>;
  close(): Promise<void>;
}

/** A sandbox with a mirror of it. The program runs beside this process: the sandbox in it has to answer meanwhile. */
export async function mirrored(
  options: Parameters<typeof startSandbox>[0],
  prepare: (sandbox: Sandbox) => Promise<void> = async () => undefined,
): Promise<Mirrored> {
  const sandbox = await startSandbox(options);
  const folder = temporaryFolder('mcp');
  const env = { FEEDBACK_BASE_URL: sandbox.url, FEEDBACK_API_TOKEN: 'sandbox', DATA_DIR: folder };
  const cli = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCli(args, { env });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  await prepare(sandbox);
  await cli('sync');
  return {
    sandbox,
    env,
    cli,
    async close() {
      await sandbox.close();
      await removeFolder(folder);
    },
  };
}

export interface Result {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  content: { type: string; text?: string }[];
}

/** The official client, with what a scripted agent needs of it. */
export interface Agent {
  client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<Result>;
  /** The structured answer; fails where the tool did. */
  answer<T = Record<string, unknown>>(name: string, args?: Record<string, unknown>): Promise<T>;
  calls: string[];
  log(): string;
  close(): Promise<void>;
}

export async function agentOnStdio(env: Record<string, string>): Promise<Agent> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ENTRY, 'mcp'],
    env: { PATH: process.env.PATH ?? '', ...env },
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  return await agentOn(transport, () => log);
}

/** With `auto` it speaks the newest revision that the server has, and not that of 2025. */
export async function agentOnHttp(
  url: string,
  token: string,
  mode: 'legacy' | 'auto' = 'legacy',
): Promise<Agent> {
  const headers = { authorization: `Bearer ${token}` };
  return await agentOn(
    new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }),
    () => '',
    mode,
  );
}

async function agentOn(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  log: () => string,
  mode: 'legacy' | 'auto' = 'legacy',
): Promise<Agent> {
  const client = new Client({ name: 'a test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const calls: string[] = [];
  const call: Agent['call'] = async (name, args = {}) => {
    calls.push(name);
    return (await client.callTool({ name, arguments: args })) as unknown as Result;
  };
  return {
    client,
    call,
    calls,
    log,
    async answer<T>(name: string, args?: Record<string, unknown>) {
      const { isError, structuredContent, content } = await call(name, args);
      assert.ok(!isError && structuredContent, `${name}: ${content[0]?.text}`);
      assert.deepEqual(JSON.parse(content[0]?.text ?? ''), structuredContent);
      return structuredContent as T;
    },
    close: () => client.close(),
  };
}
