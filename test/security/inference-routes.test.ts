import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { operations } from '../../infra/tools/reference/inference-document.ts';
import type { HostScope } from '../../shared/hosts/host.ts';
import { routesOfHost } from '../../shared/hosts/inference-routes.ts';
import type { Operation } from '../../shared/hosts/operation.ts';
import { HOSTS, type HostRun, startHostRun } from '../support/clients/hosts.ts';

const scopes = { serverless: 'serverless', 'on-demand': 'on_demand' } as const;
const SERVICE_ROUTES = ['GET /health', 'GET /version', 'GET /openapi.json', 'GET /docs'];
const PUBLIC = { serverless: [...SERVICE_ROUTES, 'GET /v1/models', 'GET /v1/models/{model+}'], 'on-demand': SERVICE_ROUTES };
const all: (host: HostScope) => Operation[] = operations;
type Headers = Readonly<Record<string, string>>;
const nameOf = ({ method, path }: Pick<Operation, 'method' | 'path'>): string => `${method} ${path}`;
const named = (some: readonly Operation[]): [string, Operation][] => some.map((operation) => [nameOf(operation), operation]);

const request_id = expect.stringMatching(/^req_/);
const ERROR = { error: expect.any(String), code: 'invalid_api_key', request_id };
const details = { error_code: 'invalid_api_key', param: null };
const MESSAGES_ERROR = { type: 'error', error: { type: 'authentication_error', message: expect.any(String), details }, request_id };

const VERSION = { 'anthropic-version': '2023-06-01' };
const CREDENTIALS: [string, (secret: string) => Headers][] = [
  ['the authorization header', (secret) => ({ authorization: `Bearer ${secret}` })],
  ['x-api-key', (secret) => ({ 'x-api-key': secret, ...VERSION })],
];

describe.each(HOSTS)('the %s host', (host) => {
  const scope = scopes[host];
  const closed = all(scope).filter(({ access }) => access !== 'public');
  const open = all(scope).filter(({ access }) => access === 'public');
  let run: HostRun;
  beforeAll(async () => {
    run = await startHostRun(host);
  });
  afterAll(async () => {
    await run.close();
  });

  /** Sends the example of the operation with these headers. */
  const send = (operation: Operation, credentials: Headers = {}): Promise<Response> => {
    const [example] = Object.values(operation.body?.examples ?? {});
    return fetch(run.base_url + operation.path.replace(/\{\w+\+?\}/, 'sluice-tiny'), {
      method: operation.method,
      headers: { ...run.host.headers, 'content-type': 'application/json', ...credentials },
      ...(example && { body: JSON.stringify(example.value) }),
    });
  };

  test('documents exactly the routes that it serves', async () => {
    const served = routesOfHost(scope).map(nameOf);
    expect(all(scope).map(nameOf).toSorted()).toEqual([...served, ...SERVICE_ROUTES].toSorted());
    const { paths } = (await (await fetch(`${run.base_url}/openapi.json`)).json()) as { paths: Record<string, Record<string, Operation>> };
    const documented = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
    expect(documented.toSorted()).toEqual(
      all(scope)
        .map(({ operationId }) => operationId)
        .toSorted(),
    );
  });

  test('has no other public routes', () => {
    expect(open.map(nameOf).toSorted()).toEqual(PUBLIC[host].toSorted());
  });

  test.each(named(open))('requires no API key for %s', async (_, operation) => {
    expect((await send(operation)).status).toBe(200);
  });

  describe.each(named(closed))('%s', (_, operation) => {
    const isOfMessages = operation.errorShape === 'messages';
    const rejects = async (credentials?: Headers): Promise<void> => {
      const response = await send(operation, credentials);
      expect([response.status, await response.json()]).toEqual([401, isOfMessages ? MESSAGES_ERROR : ERROR]);
    };

    test('rejects a request without an API key', () => rejects());
    test('rejects another authorization scheme', () => rejects({ authorization: 'Basic c2s6' }));
    test('reads x-api-key of clients of the Messages API only', async () => {
      const key = { 'x-api-key': (await run.createKey()).secret };
      if (!isOfMessages) await rejects(key);
      for (const credentials of [...(isOfMessages ? [key] : []), { ...key, ...VERSION }])
        expect((await send(operation, credentials)).status).not.toBe(401);
    });

    describe.each(CREDENTIALS)('rejects in %s', (__, withKey) => {
      test('a malformed key', () => rejects(withKey('sk-s0000')));
      test('a key with a wrong secret', async () => {
        const { secret } = await run.createKey();
        const other = (await run.createKey()).secret;
        await rejects(withKey(`${secret.slice(0, 22)}${other.slice(22)}`));
      });
      test('a key for the other host', async () => {
        const { secret } = await run.createKey({ scope: run.host.otherScope });
        await rejects(withKey(secret));
      });
      test('an expired key', async () => {
        const { secret } = await run.createKey({ expires_at: 1 });
        await rejects(withKey(secret));
      });
    });
  });
});
