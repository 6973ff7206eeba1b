import { randomBytes } from 'node:crypto';
import type { APIGatewayEventIdentity, APIGatewayProxyEvent } from 'aws-lambda';
import type { RestApi } from '../../assembly/local-app.ts';
import { ACCOUNT_ID } from '../../assembly/resolve.ts';
import { isBinary } from './binary-media-types.ts';
import type { RouteMatch } from './match-route.ts';
import type { RequestIds } from './request-ids.ts';

/** A request as received. */
export interface ReceivedRequest {
  method: string;
  /** Path and query string. */
  target: string;
  httpVersion: string;
  /** Alternating names and values, in the caller's letter case (`IncomingMessage.rawHeaders`). */
  rawHeaders: readonly string[];
  sourceIp: string;
  port: number;
  body: Buffer;
  receivedAt: Date;
}

const DROPPED = new Set(['connection', 'expect', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade']);
const TRACE_ID_BYTES = 12;

const NO_IDENTITY: Omit<APIGatewayEventIdentity, 'sourceIp' | 'userAgent'> = {
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  user: null,
  userArn: null,
};

/**
 * Builds the event of a REST API's Lambda proxy integration, format 1.0. The path is unchanged, without the stage;
 * query parameters are decoded; the body is base64 if its type is a binary media type of the API.
 */
export const proxyEvent = (
  api: RestApi,
  { route, pathParameters }: RouteMatch,
  request: ReceivedRequest,
  ids: RequestIds,
): APIGatewayProxyEvent => {
  const { pathname, search } = splitTarget(request.target);
  const headers = new MultiValues();
  for (const [name, value] of forwardedHeaders(request)) headers.add(name, value);
  const query = new MultiValues();
  for (const [name, value] of new URLSearchParams(search)) query.add(name, value);
  const host = headers.find('host') ?? '';
  const binary = request.body.length > 0 && isBinary(api.binaryMediaTypes, headers.find('content-type') ?? 'application/json');
  return {
    resource: route.resourcePath,
    path: pathname,
    httpMethod: request.method,
    headers: headers.last(),
    multiValueHeaders: headers.all(),
    queryStringParameters: query.isEmpty() ? null : query.last(),
    multiValueQueryStringParameters: query.isEmpty() ? null : query.all(),
    pathParameters: pathParameters && { ...pathParameters },
    stageVariables: api.stageVariables && { ...api.stageVariables },
    requestContext: {
      resourceId: route.resourceId,
      resourcePath: route.resourcePath,
      httpMethod: request.method,
      extendedRequestId: ids.extendedRequestId,
      requestTime: commonLogTime(request.receivedAt),
      path: `/${api.stage}${pathname}`,
      accountId: ACCOUNT_ID,
      protocol: `HTTP/${request.httpVersion}`,
      stage: api.stage,
      domainPrefix: host.split('.')[0] ?? '',
      requestTimeEpoch: request.receivedAt.getTime(),
      requestId: ids.requestId,
      identity: { ...NO_IDENTITY, sourceIp: request.sourceIp, userAgent: headers.find('user-agent') ?? null },
      domainName: host,
      apiId: api.id,
      authorizer: undefined,
    },
    body: request.body.length === 0 ? null : request.body.toString(binary ? 'base64' : 'utf8'),
    isBase64Encoded: binary,
  };
};

/** Splits `/a/b?c=d` into the path and the query string after the question mark. */
export const splitTarget = (target: string): { pathname: string; search: string } => {
  const mark = target.indexOf('?');
  return mark < 0 ? { pathname: target, search: '' } : { pathname: target.slice(0, mark), search: target.slice(mark + 1) };
};

const forwardedHeaders = ({ rawHeaders, sourceIp, port, receivedAt }: ReceivedRequest): [string, string][] => {
  const headers: [string, string][] = [];
  let forwardedFor = sourceIp;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    if (name.toLowerCase() === 'x-forwarded-for') forwardedFor = `${value}, ${sourceIp}`;
    else if (!DROPPED.has(name.toLowerCase())) headers.push([name, value]);
  }
  const traceTime = Math.floor(receivedAt.getTime() / 1000).toString(16);
  headers.push(['X-Amzn-Trace-Id', `Root=1-${traceTime}-${randomBytes(TRACE_ID_BYTES).toString('hex')}`]);
  headers.push(['X-Forwarded-For', forwardedFor], ['X-Forwarded-Port', String(port)], ['X-Forwarded-Proto', 'http']);
  return headers;
};

// A name keeps its first letter case.
class MultiValues {
  readonly #entries = new Map<string, string[]>();
  readonly #names = new Map<string, string>();

  add(name: string, value: string): void {
    const first = this.#names.get(name.toLowerCase()) ?? name;
    this.#names.set(name.toLowerCase(), first);
    this.#entries.set(first, [...(this.#entries.get(first) ?? []), value]);
  }

  find(lowerCaseName: string): string | undefined {
    return this.#entries.get(this.#names.get(lowerCaseName) ?? '')?.at(-1);
  }

  isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  last(): Record<string, string> {
    return Object.fromEntries([...this.#entries].map(([name, values]) => [name, values.at(-1) ?? '']));
  }

  all(): Record<string, string[]> {
    return Object.fromEntries(this.#entries);
  }
}

// `20/Nov/2026:21:30:05 +0000`
const commonLogTime = (time: Date): string => {
  const [, day, month, year, clock] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+) GMT$/.exec(time.toUTCString()) ?? [];
  return `${day}/${month}/${year}:${clock} +0000`;
};
