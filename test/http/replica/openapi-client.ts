import fastify, { type FastifyInstance } from 'fastify';

/** A client that is made from an OpenAPI document and knows nothing else of the service. */
export interface GeneratedClient {
  /** Calls an operation by its id. An answer that the document does not describe is an error. */
  call(operationId: string, given?: Given): Promise<{ status: number; body: unknown }>;
}

export interface Given {
  path?: Record<string, string | number>;
  query?: Record<string, string | string[]>;
  body?: object;
  token?: string;
  /** Whether the token goes into the query. */
  isQueryToken?: boolean;
}

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  requestBody?: object;
  security?: Record<string, unknown>[];
  responses: Record<string, { content: Record<string, { schema?: object }> }>;
}

export interface OpenApi {
  security: Record<string, unknown>[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, object>;
    securitySchemes: Record<string, { type: string; name?: string }>;
  };
}

export function clientOf(document: OpenApi, base: string): GeneratedClient {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  return {
    async call(operationId, given = {}) {
      const operation = operations.find((one) => one.operationId === operationId);
      if (!operation) throw new Error(`the document has no operation ${operationId}`);
      const url = new URL(filled(operation.path, given.path ?? {}), base);
      for (const [name, values] of Object.entries(given.query ?? {}))
        for (const value of [values].flat()) url.searchParams.append(known(operation, name), value);
      const headers = authorised(document, operation, url, given);
      const sent = given.body ? { body: JSON.stringify(given.body) } : {};
      const answer = await fetch(url, {
        method: operation.method.toUpperCase(),
        headers: { ...headers, ...(given.body && { 'content-type': 'application/json' }) },
        ...sent,
      });
      const body: unknown = await answer.json();
      await describedOrThrow(document, operation, answer.status, body);
      return { status: answer.status, body };
    },
  };
}

function filled(path: string, values: Record<string, string | number>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

function known(operation: Operation, name: string): string {
  if (operation.parameters?.some((one) => one.name === name && one.in === 'query')) return name;
  throw new Error(`${operation.operationId} has no parameter ${name}`);
}

/** By the security schemes that the document names for this operation. */
function authorised(
  document: OpenApi,
  operation: Operation,
  url: URL,
  { token, isQueryToken = false }: Given,
): Record<string, string> {
  if (token === undefined) return {};
  const allowed = (operation.security ?? document.security).flatMap((one) => Object.keys(one));
  const scheme = allowed
    .map((name) => document.components.securitySchemes[name])
    .find((one) => (one?.type === 'apiKey') === isQueryToken);
  if (!scheme) throw new Error(`${operation.operationId} takes no such token`);
  if (!isQueryToken) return { authorization: `Bearer ${token}` };
  url.searchParams.set(scheme.name ?? '', token);
  return {};
}

async function describedOrThrow(
  document: OpenApi,
  { operationId, responses }: Operation,
  status: number,
  body: unknown,
): Promise<void> {
  const response = responses[status] ?? responses[`${Math.floor(status / 100)}XX`];
  const schema = response?.content['application/json']?.schema;
  if (!schema) throw new Error(`${operationId} answers ${status}, which the document does not have`);
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const whole = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as object;
  const problem = await problemOf(whole, body);
  if (problem !== null) throw new Error(`${operationId} ${status}: ${problem}`);
}

/** What is wrong with a value by a JSON Schema, by the validator of the server itself; null where nothing is. */
export async function problemOf(schema: object, value: unknown): Promise<string | null> {
  const reply = await validatorOf(JSON.stringify(schema)).inject({
    ...{ method: 'POST', url: '/', payload: value as object },
  });
  return reply.statusCode === 200 ? null : reply.body;
}

const validators = new Map<string, FastifyInstance>();

/** Made once for each schema: it takes a hundred times as long as to ask it. */
function validatorOf(schema: string): FastifyInstance {
  const known = validators.get(schema);
  if (known) return known;
  const ajv = {
    customOptions: { coerceTypes: false, removeAdditional: false, allowUnionTypes: true, useDefaults: false },
  } as const;
  const app = fastify({ ajv });
  app.post('/', { schema: { body: JSON.parse(schema) as object } }, () => ({}));
  validators.set(schema, app);
  return app;
}
