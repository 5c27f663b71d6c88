import {
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { AppError, codeOf, type ErrorCode, messageOf, storageError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { withoutDashes } from '../reports/report.ts';
import type { ToolDeps, ToolFacts, ToolHandles } from './answers.ts';
import { GLOSSARY, INSTRUCTIONS, PROMPTS, reportDefinitions, schemaText } from './guide.ts';
import { AGENT_LIMITS, type AgentLimits, type CallKind, fitting, limiter } from './limits.ts';
import { DRAFT_POST, TOOLS, type Tool } from './tools.ts';

interface McpOptions {
  /** Does the work of a call with the mirror as it is now. */
  use<T>(work: (handles: ToolHandles) => Promise<T>): Promise<T>;
  facts: ToolFacts;
  hasDrafts: boolean;
  log: Logger;
  version: string;
  limits?: Partial<AgentLimits>;
  /** Where a call names one of several sources. */
  sources?: { names(): string[]; workOf(name: string): Promise<Pick<McpOptions, 'use' | 'facts'>> };
}

/**
 * Makes servers that share one set of limits: a client that connects anew, or asks over HTTP call by call, does not get new ones. The
 * library's own way to add tools answers for those it does not know before anybody could limit or log the call, so requests are taken here.
 */
export function mcpServers(options: McpOptions): () => Server {
  const { version, hasDrafts } = options;
  const limits = { ...AGENT_LIMITS, ...options.limits };
  const run = runner(options, limits);
  const tools = hasDrafts ? [...TOOLS, DRAFT_POST] : TOOLS;
  let listed: ListedTool[] | undefined;
  return () => {
    const capabilities = { tools: {}, resources: {}, prompts: {} };
    const server = new Server(
      { name: 'feedback-mirror', version },
      { capabilities, instructions: INSTRUCTIONS },
    );
    server.setRequestHandler('tools/list', () => {
      listed ??= tools.map(listedTool);
      const { sources } = options;
      return { tools: sources ? listed.map((tool) => withSource(tool, sources.names())) : listed };
    });
    server.setRequestHandler('tools/call', async ({ params }, context) =>
      server.projectCallToolResult(await callTool(params, context, { ...options, run, limits }), undefined),
    );
    addResources(server, run);
    addPrompts(server, run);
    return server;
  };
}

/** What is asked for: the name of a tool, resource or prompt of ours, or none of them. */
interface Asked {
  kind: 'tool' | 'resource' | 'prompt';
  name: string | undefined;
  given: unknown;
  lane?: CallKind | undefined;
}

interface Answer {
  text: string;
  outcome: 'answered' | 'cancelled' | ErrorCode;
}

type Run = (
  asked: Asked,
  context: ServerContext,
  work: (signal: AbortSignal) => Promise<string>,
) => Promise<Answer>;

const FAILURE = 1000;

/** Answers a request within the limits, and logs it whatever becomes of it: with sizes, and without a word of either side. */
function runner({ facts: { rules, clock }, log }: McpOptions, limits: AgentLimits): Run {
  const limited = limiter(clock, limits);
  return async ({ kind, name, given, lane = 'reads' }, { mcpReq: { signal: gone } }, work) => {
    const began = clock.monotonic();
    const tell = (outcome: string, text: string): void => {
      const sizes = { asked: bytesOf(given), told: Buffer.byteLength(text) };
      logCall(log, { kind, name, outcome, ms: Math.round(clock.monotonic() - began), ...sizes });
    };
    try {
      const text = await limited(lane, gone, work);
      tell('answered', text);
      return { text, outcome: 'answered' };
    } catch (error) {
      // What was called off fails with the client's own words.
      const outcome = gone.aborted ? 'cancelled' : codeOf(error);
      const text = gone.aborted ? '' : rules.echoed(failureText(error), FAILURE);
      tell(outcome, text);
      if (outcome === 'internal')
        log.error({ event: 'mcp.failed', [kind]: name, err: error }, `${name ?? kind} failed`);
      return { text, outcome };
    }
  };
}

function bytesOf(given: unknown): number {
  return Buffer.byteLength(JSON.stringify(given) ?? '');
}

interface Call extends Pick<Asked, 'kind' | 'name'> {
  outcome: string;
  ms: number;
  asked: number;
  told: number;
}

function logCall(log: Logger, { kind, name = 'unknown', outcome, ms, asked, told }: Call): void {
  const facts = { event: 'mcp.called', [kind]: name, outcome, ms, asked, told };
  log.info(facts, `${name}: ${outcome} in ${ms} ms`);
}

/** Our own words only: a defect is not explained to a client, nor is the disk; a lock of another program goes by. */
function failureText(thrown: unknown): string {
  const error = codeOf(thrown) === 'busy' ? (storageError(thrown) ?? thrown) : thrown;
  if (!(error instanceof AppError) || error.code === 'internal')
    return 'this could not be answered; the log of the mirror says why';
  return withoutDashes([messageOf(error), error.hint].filter(Boolean).join('. '));
}

const ANNOTATIONS = { destructiveHint: false, idempotentHint: true, openWorldHint: false };

function listedTool({ name, title, description, input, isDraft }: Tool): ListedTool {
  // Both say what JSON Schema is, in types that do not meet.
  const inputSchema = z.toJSONSchema(input, { io: 'input' }) as ListedTool['inputSchema'];
  return { name, title, description, inputSchema, annotations: { readOnlyHint: !isDraft, ...ANNOTATIONS } };
}

/** Also the one that is not offered: that an agent tried to write is worth a line in the log. */
const KNOWN = new Map([...TOOLS, DRAFT_POST].map((tool) => [tool.name, tool]));

interface ToolCall {
  name: string;
  arguments?: Record<string, unknown> | undefined;
}

async function callTool(
  { name, arguments: given }: ToolCall,
  context: ServerContext,
  { run, limits, ...options }: McpOptions & { run: Run; limits: AgentLimits },
) {
  const tool = KNOWN.get(name);
  let result: Record<string, unknown> = {};
  const { text, outcome } = await run(
    { kind: 'tool', name: tool?.name, given, lane: tool?.lane },
    context,
    async (signal) => {
      if (!tool) throw new AppError('usage', 'there is no such tool');
      const { source, asked, use, facts } = await workFor(options, given);
      const whole = await use((handles) =>
        tool.run(stoppable({ ...handles, ...facts }, signal), parsed(tool, asked)),
      );
      result = { ...source, ...fitting(whole, limits.resultBytes) };
      return JSON.stringify(result);
    },
  );
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, text);
  const content = [{ type: 'text' as const, text }];
  return outcome === 'answered' ? { content, structuredContent: result } : { content, isError: true };
}

/** Of the source that the call names, where there are several; its name is in the answer. */
async function workFor(options: McpOptions, given: Record<string, unknown> = {}) {
  const { use, facts, sources } = options;
  if (!sources) return { source: {}, asked: given, use, facts };
  const { source, ...asked } = given;
  if (typeof source !== 'string' || !sources.names().includes(source))
    throw new AppError('usage', `source must be one of ${sources.names().join(', ')}`);
  return { source: { source }, asked, ...(await sources.workOf(source)) };
}

function withSource(tool: ListedTool, names: readonly string[]): ListedTool {
  const { properties, required = [] } = tool.inputSchema;
  const source = { type: 'string', enum: [...names], description: 'which of the mirrored services' };
  return {
    ...tool,
    inputSchema: {
      ...tool.inputSchema,
      properties: { source, ...properties },
      required: ['source', ...required],
    },
  };
}

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

const mimeType = 'text/markdown';
const RESOURCES = [
  { name: 'schema', title: 'Tables of the mirror for the tool sql', text: schemaText },
  { name: 'glossary', title: 'Words of the mirror', text: () => GLOSSARY },
  { name: 'reports', title: 'Definitions of the reports', text: reportDefinitions },
].map((resource) => ({ ...resource, uri: `mirror://${resource.name}` }));

function addResources(server: Server, run: Run): void {
  server.setRequestHandler('resources/list', () => ({
    resources: RESOURCES.map(({ name, title, uri }) => ({ name, title, uri, mimeType })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params }, context) => {
    const found = RESOURCES.find(({ uri }) => uri === params.uri);
    const asked = { kind: 'resource', name: found?.name, given: params.uri } as const;
    const { text, outcome } = await run(asked, context, async () => {
      if (found) return found.text();
      throw new AppError('usage', 'there is no such resource');
    });
    if (!found && outcome === 'usage') throw new ResourceNotFoundError(params.uri);
    if (!found || outcome !== 'answered') throw new ProtocolError(ProtocolErrorCode.InternalError, text);
    return { contents: [{ uri: found.uri, mimeType, text }] };
  });
}

const PROMPT_INPUT = z.object({ board: z.string().max(200).optional() });

function addPrompts(server: Server, run: Run): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: PROMPTS.map(({ name, title, description }) => ({
      name,
      title,
      description,
      arguments: [{ name: 'board', description: 'slug or name of one board', required: false }],
    })),
  }));
  server.setRequestHandler('prompts/get', async ({ params: { name, arguments: given } }, context) => {
    const found = PROMPTS.find((prompt) => prompt.name === name);
    const asked = { kind: 'prompt', name: found?.name, given } as const;
    const { text, outcome } = await run(asked, context, async () => {
      if (!found) throw new AppError('usage', 'there is no such prompt');
      const { success, data } = PROMPT_INPUT.safeParse(given ?? {});
      if (!success) throw new AppError('usage', 'board is the slug or the name of one board');
      return `${data.board ? `Look at the board ${JSON.stringify(data.board)} only.\n\n` : ''}${found.text}`;
    });
    if (outcome !== 'answered') throw new ProtocolError(ProtocolErrorCode.InvalidParams, text);
    return { messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
}
