import type * as z from 'zod';
import type { WithFacts } from '../hosts/operation.ts';
import type { ApiEvent } from '../http/api-event.ts';
import { withoutCors } from '../http/browser-path.ts';
import { readJsonBody } from '../http/json/json-body.ts';
import { commonHeaders, jsonReply } from '../http/reply.ts';
import { validate } from '../http/validate.ts';
import { refuseQuery } from '../http/validate-query.ts';
import { requireSameOrigin } from './browser-session.ts';
import type { PublicRoute, PublicRouteFacts } from './public-route.ts';
import { type Caller, callerOf } from './request-origin.ts';

interface Call<Deps, Facts extends PublicRouteFacts> {
  deps: Deps;
  body: z.output<Facts['body']['schema']>;
  caller: Caller;
  event: ApiEvent;
}

/** The body of a reply, and the header `set-cookie`. */
export interface BrowserResult {
  body?: unknown;
  cookie?: string;
}

/**
 * Returns the `route()` of rules that need `Deps`, and that read or write the cookie with a refresh token.
 * @throws 403 for a request that another site could have caused, 400, then the rule's own errors
 */
export const createBrowserRoute =
  <Deps>() =>
  <const Facts extends PublicRouteFacts>(
    facts: Facts,
    run: (call: Call<Deps, Facts>) => Promise<BrowserResult>,
  ): WithFacts<PublicRoute<Deps>, Facts> => ({
    ...facts,
    tag: 'Sessions',
    access: 'public',
    handle: async (deps, event) => {
      requireSameOrigin(event);
      refuseQuery(event.queryStringParameters);
      const given = validate(facts.body.schema, readJsonBody(event)) as Call<Deps, Facts>['body'];
      const { body, cookie } = await run({ deps, body: given, caller: callerOf(event), event });
      const { status, json } = facts.reply;
      const reply = json
        ? jsonReply(event.requestId, status, body)
        : { statusCode: status, headers: commonHeaders(event.requestId, 'application/json'), body: '' };
      return withoutCors({ ...reply, headers: { ...reply.headers, ...(cookie !== undefined && { 'set-cookie': cookie }) } });
    },
  });
