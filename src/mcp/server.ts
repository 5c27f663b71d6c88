import { McpServer, type ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import { AppError, codeOf, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { GLOSSARY, INSTRUCTIONS, PROMPTS, reportDefinitions, schemaText } from './guide.ts';
import { fitting, LIMITS, type Limited, type Limits, limiter } from './limits.ts';
import { DRAFT_POST, TOOLS, type Tool, type ToolDeps } from './tools.ts';

export interface McpOptions {
  deps: ToolDeps;
  clock: Clock;
  log: Logger;
  version: string;
  limits?: Partial<Limits>;
}

/** Makes servers that share one set of limits: a client that connects anew, or asks over HTTP call by call, does not get new ones. */
export function mcpServers(options: McpOptions): () => McpServer {
  const limits = { ...LIMITS, ...options.limits };
  const limited = limiter(options.clock, limits);
  return () => {
    const server = new McpServer(
      { name: 'feedback-mirror', version: options.version },
      { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: INSTRUCTIONS },
    );
    const tools = options.deps.drafts ? [...TOOLS, DRAFT_POST] : TOOLS;
    for (const tool of tools) addTool(server, tool, (asked) => call(tool, asked, options, limits, limited));
    addResources(server);
    addPrompts(server);
    return server;
  };
}

/** A call, and whether anybody still waits for its answer. */
interface Asked {
  given: unknown;
  signal: AbortSignal;
}

interface Answer {
  [key: string]: unknown;
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
}

const ANNOTATIONS = { destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** The library tells clients of the schema. What they send is checked in `call`, so that a call that is wrong is limited and logged too. */
function addTool(server: McpServer, tool: Tool, run: (asked: Asked) => Promise<Answer>): void {
  const { name, title, description, input, isDraft = false } = tool;
  const { '~standard': standard } = input;
  const inputSchema = {
    '~standard': { ...standard, validate: (value: unknown) => ({ value: value as object }) },
  };
  const config = { title, description, inputSchema, annotations: { readOnlyHint: !isDraft, ...ANNOTATIONS } };
  server.registerTool(
    name,
    config,
    async (given: unknown, { mcpReq: { signal } }: ServerContext) => await run({ given, signal }),
  );
}

async function call(
  tool: Tool,
  { given, signal: gone }: Asked,
  { deps, clock, log }: McpOptions,
  limits: Limits,
  limited: Limited,
): Promise<Answer> {
  const began = clock.monotonic();
  const tell = (outcome: string, text: string): void => {
    const sizes = { asked: Buffer.byteLength(JSON.stringify(given) ?? ''), told: Buffer.byteLength(text) };
    const ms = Math.round(clock.monotonic() - began);
    const facts = { event: 'mcp.called', tool: tool.name, outcome, ms, ...sizes };
    log.info(facts, `${tool.name}: ${outcome} in ${ms} ms`);
  };
  try {
    const work = async (signal: AbortSignal) =>
      await tool.run(stoppable(deps, AbortSignal.any([signal, gone])), parsed(tool, given));
    const result = fitting(await limited(work), limits.resultBytes);
    const text = JSON.stringify(result);
    tell('answered', text);
    return { content: [{ type: 'text', text }], structuredContent: result };
  } catch (error) {
    const text = deps.rules.text(failureText(error), FAILURE);
    tell(codeOf(error), text);
    if (codeOf(error) === 'internal')
      log.error({ event: 'mcp.failed', tool: tool.name, err: error }, `${tool.name} failed`);
    return { content: [{ type: 'text', text }], isError: true };
  }
}

const FAILURE = 1000;

function stoppable(deps: ToolDeps, signal: AbortSignal): ToolDeps {
  return {
    ...deps,
    ask: (name, request) => deps.ask(name, request, signal),
    query: (statement) => deps.query(statement, signal),
  };
}

function parsed(tool: Tool, given: unknown): z.output<Tool['input']> {
  const { success, data, error } = tool.input.safeParse(given ?? {});
  if (success) return data;
  throw new AppError('usage', z.prettifyError(error), { hint: `See the description of ${tool.name}` });
}

/** Our own words only: a defect is not explained to a client. */
function failureText(error: unknown): string {
  if (!(error instanceof AppError) || error.code === 'internal')
    return 'this could not be answered; the log of the mirror says why';
  return [messageOf(error), error.hint].filter(Boolean).join('. ');
}

function addResources(server: McpServer): void {
  const texts = [
    ['schema', 'Tables of the mirror for the tool sql', schemaText],
    ['glossary', 'Words of the mirror', () => GLOSSARY],
    ['reports', 'Definitions of the reports', reportDefinitions],
  ] as const;
  const mimeType = 'text/markdown';
  for (const [name, title, text] of texts)
    server.registerResource(name, `mirror://${name}`, { title, mimeType }, async ({ href }) => ({
      contents: [{ uri: href, mimeType, text: text() }],
    }));
}

function addPrompts(server: McpServer): void {
  const argsSchema = z.object({ board: z.string().max(200).optional() });
  for (const { name, title, description, text } of PROMPTS)
    server.registerPrompt(name, { title, description, argsSchema }, ({ board }) => {
      const scope = board ? `Look at the board ${JSON.stringify(board)} only.\n\n` : '';
      return { messages: [{ role: 'user', content: { type: 'text', text: scope + text } }] };
    });
}
