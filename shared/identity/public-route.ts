import type * as z from 'zod';
import type { Operation, WithFacts } from '../hosts/operation.ts';
import type { ApiEvent } from '../http/api-event.ts';
import { readJsonBody } from '../http/json/json-body.ts';
import { commonHeaders, jsonReply, type Reply } from '../http/reply.ts';
import { validate } from '../http/validate.ts';
import { refuseQuery } from '../http/validate-query.ts';
import { type Caller, callerOf } from './request-origin.ts';

const TAG = 'Sessions';

/** The facts of a route that needs no session. */
export interface PublicRouteFacts extends Omit<Operation, 'tag' | 'access' | 'query' | 'body'> {
  body: NonNullable<Operation['body']>;
}

/** A route that needs no session, with its handler. `Deps` are the dependencies of its rule. */
export interface PublicRoute<Deps> extends Operation<typeof TAG> {
  access: 'public';
  handle: (deps: Deps, event: ApiEvent) => Promise<Reply>;
}

interface Call<Deps, Facts extends PublicRouteFacts> {
  deps: Deps;
  body: z.output<Facts['body']['schema']>;
  caller: Caller;
}

/**
 * Returns the `route()` of rules that need `Deps`. A route validates the request, runs its rule and serializes the
 * result. @throws 400, then the rule's own errors
 */
export const createPublicRoute =
  <Deps>() =>
  <const Facts extends PublicRouteFacts>(
    facts: Facts,
    run: (call: Call<Deps, Facts>) => Promise<unknown>,
  ): WithFacts<PublicRoute<Deps>, Facts> => ({
    ...facts,
    tag: TAG,
    access: 'public',
    handle: async (deps, event) => {
      refuseQuery(event.queryStringParameters);
      const body = validate(facts.body.schema, readJsonBody(event)) as Call<Deps, Facts>['body'];
      const result = await run({ deps, body, caller: callerOf(event) });
      const { status, json } = facts.reply;
      if (json) return jsonReply(event.requestId, status, result);
      return { statusCode: status, headers: commonHeaders(event.requestId, 'application/json'), body: '' };
    },
  });
