import * as z from 'zod';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import type { RequestRow } from '../../../../shared/observability/request-row.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { unixSeconds } from '../../../../shared/time/units.ts';
import { Outcome } from '../../../../shared/usage/event.ts';

const Name = z.string().nullable();

/** A request in the result of a search. */
export const RequestRecord = z.object({
  object: z.literal('request'),
  id: z.string(),
  created_at: z.int().meta({ description: 'When it arrived. Unix time in seconds.' }),
  api_key_id: z.string(),
  project_id: Name.meta({ description: 'The project of the API key when the request was admitted.' }),
  model: Name,
  route: Name,
  deployment: Name.meta({ description: 'The id of the deployment that served it; null for shared models that no deployment serves.' }),
  outcome: Outcome.meta({ description: '`orphaned`: its function crashed.' }),
  status: z
    .int()
    .nullable()
    .meta({ description: 'The HTTP status of the response, or the one of the error that ended it; null if not known.' }),
  error_code: Name,
  input_tokens: z.int(),
  cached_tokens: z.int(),
  output_tokens: z.int(),
  cost: z.string().meta({ description: "The cost as first rated: an exact decimal number. Later ratings are in the request's details." }),
  time_to_first_token_ms: z.int().nullable(),
  duration_ms: z.int(),
  user: Name,
  user_id: Name.meta({ description: 'The end user from the `X-User-Id` header.' }),
  metadata: z
    .record(z.string(), z.string())
    .nullable()
    .meta({ description: 'The part that requests can be searched by; numbers and booleans as text.' }),
});
export type RequestRecord = z.infer<typeof RequestRecord>;

export const requestRecord = (row: RequestRow): RequestRecord => ({
  object: 'request',
  id: row.request_id,
  created_at: unixSeconds(requestTimeMs(row.request_id)),
  api_key_id: row.key_id,
  project_id: row.project_id ?? null,
  model: row.model ?? null,
  route: row.route ?? null,
  deployment: row.deployment ?? null,
  outcome: row.outcome,
  status: row.status ?? null,
  error_code: row.error_code ?? null,
  input_tokens: row.prompt_tokens,
  cached_tokens: row.cached_tokens,
  output_tokens: row.completion_tokens,
  cost: dollarsOf(row.cost_nanos),
  time_to_first_token_ms: row.time_to_first_token_ms,
  duration_ms: row.duration_ms,
  user: row.user ?? null,
  user_id: row.user_id ?? null,
  metadata: row.metadata ?? null,
});
