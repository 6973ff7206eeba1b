import { apiUrl } from './address.ts';
import { failureOf, unreachable } from './api-failure.ts';
import { parseJson } from './json.ts';
import type { ReplyBody, RequestBody, RouteName } from './routes.ts';

type PublicRoute = Extract<RouteName, `POST /v1/auth/${'forgot' | 'reset' | 'sso'}` | 'GET /v1/console/configuration'>;

/** Calls a route that needs no session. @throws ApiFailure */
export const publicRequest = async <Name extends PublicRoute>(name: Name, body?: RequestBody<Name>): Promise<ReplyBody<Name>> => {
  const [method = 'GET', path = '/'] = name.split(' ');
  const response = await fetch(apiUrl(path), {
    method,
    credentials: 'omit',
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw await failureOf(response);
  const text = await response.text();
  return (text === '' ? undefined : parseJson(text)) as ReplyBody<Name>;
};
