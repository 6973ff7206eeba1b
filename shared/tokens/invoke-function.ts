import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import { FunctionError, FunctionUnavailable, PayloadTooLarge } from './function-errors.ts';
import { Sha256 } from './sha256.ts';

const CONNECTION_TIMEOUT_MS = 2_000;
/** For both attempts together. */
const TOTAL_TIMEOUT_MS = 20_000;
const MAX_ATTEMPTS = 2;
const BACKOFF_MS = 100;
/** Lambda's own limit for a synchronous invocation. */
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;
const MAX_SOCKETS = 256;
const TOO_MANY_REQUESTS = 429;
const FIRST_SERVER_STATUS = 500;

/** The DNS suffix of a partition by the prefix of its region names; all others use amazonaws.com (AWS's partitions.json). */
const DNS_SUFFIXES: Readonly<Record<string, string>> = {
  'cn-': 'amazonaws.com.cn',
  'eusc-': 'amazonaws.eu',
  'us-iso-': 'c2s.ic.gov',
  'us-isob-': 'sc2s.sgov.gov',
  'us-isof-': 'csp.hci.ic.gov',
  'eu-isoe-': 'cloud.adc-e.uk',
};

/** The URL of Lambda's endpoint in a region. */
export const lambdaEndpoint = (region: string): string => {
  const [, suffix = 'amazonaws.com'] = Object.entries(DNS_SUFFIXES).find(([prefix]) => region.startsWith(prefix)) ?? [];
  return `https://lambda.${region}.${suffix}`;
};

/** Lambda rejected the invocation, or failed before the function answered. */
class InvokeRefused extends Error {
  readonly status: number;

  constructor(functionName: string, status: number, body: string) {
    super(`Lambda answered ${status} to an invocation of ${functionName}: ${body}`);
    this.name = 'InvokeRefused';
    this.status = status;
  }
}

/** Whether a second attempt can succeed. A function that threw would throw again. */
const isWorthRetrying = (error: unknown): boolean => {
  if (error instanceof FunctionError) return false;
  if (error instanceof InvokeRefused) return error.status === TOO_MANY_REQUESTS || error.status >= FIRST_SERVER_STATUS;
  const { code, name } = error as { code?: unknown; name?: unknown };
  return name === 'TimeoutError' || (typeof code === 'string' && /^E[A-Z]+/.test(code));
};

const readError = (body: string): { errorType?: string; errorMessage?: string } => {
  try {
    return JSON.parse(body) as { errorType?: string; errorMessage?: string };
  } catch {
    return { errorMessage: body };
  }
};

/**
 * Invokes one of our functions and waits for its result, with Lambda's API `Invoke`
 * (https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html). AWS's own client would add 70 kB to the bundle.
 * Only for idempotent functions: a broken connection, a 429 and a 5XX are retried once.
 * @param functionName a name or an ARN
 * @param payload the function's event, up to 6 MB of JSON
 * @returns the function's result
 * @throws PayloadTooLarge (413) for more than 6 MB
 * @throws FunctionUnavailable for all other failures; its cause is a FunctionError if the function itself threw
 */
export type InvokeFunction = (functionName: string, payload: unknown) => Promise<unknown>;

/** Region, credentials and endpoint (AWS_ENDPOINT_URL_LAMBDA) come from the environment. Connections are kept alive. */
export const createInvokeFunction = (): InvokeFunction => {
  const region = process.env.AWS_REGION ?? '';
  const { protocol, hostname, port } = new URL(process.env.AWS_ENDPOINT_URL_LAMBDA ?? lambdaEndpoint(region));
  let credentials: ReturnType<ReturnType<typeof fromEnv>> | undefined;
  const signer = new SignatureV4({
    service: 'lambda',
    region,
    sha256: Sha256,
    // Cached, because they don't change during the life of a process.
    credentials: () => (credentials ??= fromEnv()()),
  });
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  const http = new NodeHttpHandler({ connectionTimeout: CONNECTION_TIMEOUT_MS, httpAgent: agent, httpsAgent: agent });

  const send = async (functionName: string, body: string, abortSignal: AbortSignal): Promise<unknown> => {
    const request = await signer.sign({
      method: 'POST',
      protocol,
      hostname,
      ...(port && { port: Number(port) }),
      path: `/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`,
      headers: {
        host: port ? `${hostname}:${port}` : hostname,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      },
      body,
    });
    const { response } = await http.handle(request as Parameters<typeof http.handle>[0], { abortSignal });
    const text = (await buffer(addAbortSignal(abortSignal, response.body as Readable))).toString();
    if (response.statusCode >= 300) throw new InvokeRefused(functionName, response.statusCode, text);
    if (!response.headers['x-amz-function-error']) return JSON.parse(text);
    const { errorType = 'Error', errorMessage = '' } = readError(text);
    throw new FunctionError(functionName, errorType, errorMessage);
  };

  return async (functionName, payload) => {
    const body = JSON.stringify(payload);
    if (Buffer.byteLength(body) > MAX_PAYLOAD_BYTES) throw new PayloadTooLarge();
    const timeout = AbortSignal.timeout(TOTAL_TIMEOUT_MS);
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          return await send(functionName, body, timeout);
        } catch (error) {
          if (attempt === MAX_ATTEMPTS || timeout.aborted || !isWorthRetrying(error)) throw error;
          await delay(BACKOFF_MS * (0.5 + Math.random()));
        }
      }
    } catch (error) {
      throw new FunctionUnavailable(error);
    }
  };
};
