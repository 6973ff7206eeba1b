import type { FuzzedHosts } from './fixtures.ts';
import type { FuzzedRequest } from './requests.ts';
import type { FuzzedReply } from './send.ts';

type HostName = keyof FuzzedHosts['hosts'];

/** A request that a random run of this size seldom sends, and the statuses that it may get. */
export interface DirectedRequest {
  host: HostName;
  request: FuzzedRequest;
  statuses: readonly number[];
  /** The text of the reply has it. */
  says?: RegExp;
  /** The methods that the reply must allow. */
  allowed?: readonly string[];
}

const DEEP = 10_000;
// DynamoDB rejects longer keys.
const MAX_KEY_BYTES = 2_048;

const CHAT = '"messages":[{"role":"user","content":"a"}]';
// Each host ignores or rejects the property `x`.
const BODIES: readonly [kind: string, body: Buffer, says: RegExp][] = [
  ['invalid UTF-8', Buffer.concat([Buffer.from(`{${CHAT},"x":"`), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('"}')]), /not valid UTF-8/],
  ['deep arrays', Buffer.from(`{${CHAT},"x":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`), /nested more than \d+ levels/],
];
const ROUTES_WITH_BODY: readonly [HostName, method: string, path: string][] = [
  ['serverless', 'POST', '/v1/chat/completions'],
  ['serverless', 'POST', '/v1/messages'],
  ['serverless', 'POST', '/tokenize'],
  ['on-demand', 'POST', '/v1/responses'],
  ['control', 'POST', '/v1/projects'],
  ['control', 'PATCH', '/v1/me'],
  ['control', 'POST', '/v1/auth/login'],
];

// Percent encoding that is no character, or none at all.
const ENCODINGS = ['%zz', '%C0%AF', '%00'];
const PATHS_WITH_ID: readonly [HostName, method: string, path: string][] = [
  ['serverless', 'GET', '/v1/models/'],
  ['serverless', 'DELETE', '/v1/responses/'],
  ['on-demand', 'GET', '/v1/responses/'],
  ['control', 'GET', '/v1/users/'],
  ['control', 'DELETE', '/v1/model-aliases/'],
];

const RANGE = 'start_time=1795219200&end_time=1795305600';
// Lists reject cursors of another form.
const LISTS = [
  '/v1/tickets?after=',
  '/v1/billing/invoices?after=',
  `/v1/billing/events?${RANGE}&after=`,
  '/v1/organization/usage/completions?start_time=1795219200&page=',
  `/v1/observability/requests?${RANGE}&after=`,
  '/v1/audit-log?after=',
  '/v1/api-keys?after=',
  '/v1/deployments?after=',
];
const opaque = (position: string): string => `page_${Buffer.from(position).toString('base64url')}`;
const CURSORS = ['%zz', '%00', opaque('['), opaque('["",{"at":1e99,"after":{}}]'), 'x'.repeat(MAX_KEY_BYTES)];

const LIMITED_LISTS = ['/v1/tickets', '/v1/api-keys', '/v1/audit-log', '/v1/users'];
const LIMITS = ['0', '-1', '1.5', '1e9', 'all'];

const WRONG_KEYS = [
  { expires_at: 'soon' },
  { expires_at: 4_000_000_000.5 },
  { metadata: { a: { b: 1 } } },
  { metadata: { a: 'x'.repeat(513) } },
  { name: { length: { toString: 1 } } },
];

const PATHS_WITH_METHODS: readonly [HostName, path: string, allowed: readonly string[]][] = [
  ['serverless', '/v1/chat/completions', ['POST', 'OPTIONS']],
  ['serverless', '/v1/models', ['GET', 'HEAD', 'OPTIONS']],
  ['on-demand', '/v1/responses/resp_none', ['GET', 'DELETE', 'HEAD', 'OPTIONS']],
  ['control', '/v1/tickets', ['GET', 'POST', 'HEAD', 'OPTIONS']],
  ['control', '/v1/auth/login', ['POST', 'OPTIONS']],
  ['control', '/v1/projects/proj_none', ['GET', 'PATCH', 'HEAD', 'OPTIONS']],
];
const UNSUPPORTED = 'PUT';

// The key of a customer, or the owner of an organization.
const CALLERS = { serverless: 'key', 'on-demand': 'key', control: 'owner' } as const;

/** The table of requests that are sent in each run, whatever its seed and size. */
export const directedRequests = (hosts: FuzzedHosts['hosts']): DirectedRequest[] => {
  const requestOf = (host: HostName, kind: string, method: string, path: string, body?: Buffer): FuzzedRequest => {
    const name = CALLERS[host];
    const caller = hosts[host].callers.find((each) => each.name === name);
    if (!caller) throw new Error(`no caller ${name} of the ${host} host`);
    const headers = { ...(body && { 'content-type': 'application/json' }), ...caller.headers };
    return { operation: `${method} ${path} with ${kind}`, caller: name, method, path, headers, ...(body && { body }) };
  };
  return [
    ...ROUTES_WITH_BODY.flatMap(([host, method, path]) =>
      BODIES.map(([kind, body, says]) => ({ host, request: requestOf(host, kind, method, path, body), statuses: [400], says })),
    ),
    ...PATHS_WITH_ID.flatMap(([host, method, path]) =>
      ENCODINGS.map((text) => ({ host, request: requestOf(host, text, method, path + text), statuses: [400, 404] })),
    ),
    ...LISTS.flatMap((path) =>
      CURSORS.map((cursor) => ({
        host: 'control' as const,
        request: requestOf('control', 'a cursor', 'GET', path + cursor),
        statuses: [400],
      })),
    ),
    ...LIMITED_LISTS.flatMap((path) =>
      LIMITS.map((limit) => ({
        host: 'control' as const,
        request: requestOf('control', 'a limit', 'GET', `${path}?limit=${limit}`),
        statuses: [400],
      })),
    ),
    ...WRONG_KEYS.map((fields) => {
      const body = Buffer.from(JSON.stringify({ name: 'a', ...fields }));
      return {
        host: 'control' as const,
        request: requestOf('control', `a wrong ${Object.keys(fields)}`, 'POST', '/v1/api-keys', body),
        statuses: [400],
      };
    }),
    ...PATHS_WITH_METHODS.map(([host, path, allowed]) => ({
      host,
      request: requestOf(host, 'a wrong method', UNSUPPORTED, path),
      statuses: [405],
      allowed,
    })),
  ];
};

/** Returns what is wrong with the reply to such a request, besides what is wrong with a reply to any request. */
export const directedFaults = (
  { statuses, says, allowed }: Pick<DirectedRequest, 'statuses' | 'says' | 'allowed'>,
  { status, headers, text }: FuzzedReply,
): string[] => {
  const sent = String(headers.allow ?? '')
    .split(', ')
    .toSorted();
  return [
    ...(statuses.includes(status) ? [] : [`status ${status} instead of ${statuses.join(' or ')}`]),
    ...(says && !says.test(text) ? [`does not say ${says}`] : []),
    ...(allowed && sent.join() !== allowed.toSorted().join() ? [`allow: ${sent.join(', ')}`] : []),
  ];
};
