import type { ApiEvent } from '../../shared/http/api-event.ts';

/** An event as API Gateway makes it of a request without a body that only the root's greedy resource takes. */
export const eventOf = (
  path: string,
  { method = 'GET', headers = {}, base = '' }: { method?: string; headers?: Record<string, string>; base?: string } = {},
): ApiEvent =>
  ({
    resource: path === '/' ? '/' : '/{proxy+}',
    pathParameters: path === '/' ? null : { proxy: path.slice(1) },
    httpMethod: method,
    path: `${base}${path}`,
    headers,
    body: null,
    requestId: 'req_1',
    receivedAtMs: 1_000,
  }) as unknown as ApiEvent;
