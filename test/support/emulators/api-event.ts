import type { ApiEvent } from '../../../shared/http/api-event.ts';

/** The event that API Gateway makes of a request without a body to the greedy resource `/{proxy+}`. */
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
