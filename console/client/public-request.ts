import { apiUrl } from './address.ts';
import { fetchReply, jsonOf } from './fetch-reply.ts';
import type { ReplyBody, RequestBody, RouteName } from './routes.ts';

type PublicRoute = Extract<RouteName, `POST /v1/auth/${'forgot' | 'reset' | 'sso'}`>;

/** Calls a route that needs no session. @throws ApiFailure */
export const publicRequest = async <Name extends PublicRoute>(name: Name, body: RequestBody<Name>): Promise<ReplyBody<Name>> => {
  const response = await fetchReply(apiUrl(name.slice('POST '.length)), {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await jsonOf(response)) as ReplyBody<Name>;
};
