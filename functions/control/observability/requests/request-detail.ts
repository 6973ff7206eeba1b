import * as z from 'zod';
import { deploymentIdOf } from '../../../../shared/deployments/names.ts';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import { statusOf } from '../../../../shared/observability/request-row.ts';
import { unixSeconds } from '../../../../shared/time/units.ts';
import { FailedAttempt, LimiterState, Outcome, type UsageEvent } from '../../../../shared/usage/event.ts';
import { PHASES, phasesOf } from '../../../../shared/usage/phases.ts';
import { type RatedRequest, RequestCost } from './request-cost.ts';

const Name = z.string().nullable();
const FromArrival = z.int().meta({ description: 'Milliseconds from the arrival of the request.' });

const PhaseOfRequest = z.object({
  name: z.enum(PHASES).meta({
    description:
      "`parse`: until the request was validated; `admit`: its limits were checked; `fit`: its prompt was fitted to the context window; `wait`: earlier targets or models were tried, or a deployment woke; `invoke`: until the model's response began; `first_token`; `generate`: until the answer was complete; `settle`: its usage was recorded.",
  }),
  from_ms: FromArrival,
  to_ms: FromArrival,
});

const Target = z.object({
  deployment: Name,
  endpoint: z.string(),
  component: Name.meta({ description: 'The inference component of the endpoint.' }),
  tries: z.int().meta({ description: 'How many targets were tried. The last one is shown.' }),
});

const CallersError = z.object({ status: z.int().nullable(), code: Name, message: Name });

const Trace = z.object({ trace_id: z.string(), parent_id: z.string(), is_sampled: z.boolean() });

const RequestUsage = z.object({
  input_tokens: z.int(),
  cached_tokens: z.int().meta({ description: 'The input tokens that the runtime read from its cache.' }),
  output_tokens: z.int(),
  source: z.enum(['runtime', 'estimated']).meta({ description: "Who counted the tokens: the model's runtime, or Sluice." }),
  is_overcounted: z.boolean().meta({ description: "The runtime's count was impossible, so Sluice counted." }),
});

/** A request on the wire, without its content. */
export const RequestDetail = z.object({
  object: z.literal('request'),
  id: z.string(),
  organization: z.string(),
  api_key_id: z.string(),
  project_id: Name.meta({ description: 'The project of the API key when the request was admitted.' }),
  created_at: z.int().meta({ description: 'When it arrived (Unix time in seconds).' }),
  model: Name.meta({ description: 'The model that answered, or was tried last.' }),
  fallback: z
    .int()
    .nullable()
    .meta({ description: 'Its number among the fallbacks of the model that the request named; null: it is that model.' }),
  attempts: z
    .array(FailedAttempt)
    .meta({ description: 'The models that failed before another one was tried, in their order. They cost nothing.' }),
  route: Name,
  stream: z.boolean().nullable(),
  status: z.int().nullable().meta({ description: 'The HTTP status, or that of the error; null if it is not known.' }),
  outcome: Outcome,
  error: CallersError.nullable().meta({
    description: "The error as the caller saw it. The message is null if it quoted the model's runtime, which can quote the request.",
  }),
  finish_reason: Name,
  time_to_first_token_ms: z.int().nullable(),
  duration_ms: z.int(),
  phases: z.array(PhaseOfRequest).meta({ description: 'Without gaps. Empty for requests whose function crashed, and for old ones.' }),
  target: Target.nullable(),
  limiter: LimiterState.nullable().meta({ description: "What the key's limits had left when the request was admitted." }),
  usage: RequestUsage,
  cost: RequestCost,
  ignored: z.array(z.string()).meta({ description: 'The fields of the request that had no effect.' }),
  trace: Trace.nullable().meta({ description: 'From the `traceparent` header.' }),
  user: Name,
  user_id: Name,
  metadata: z.record(z.string(), z.unknown()).nullable(),
  is_payload_logged: z.boolean(),
});
export type RequestDetail = z.infer<typeof RequestDetail>;

const errorOf = ({ error_status, error_code, error_message }: UsageEvent): RequestDetail['error'] =>
  error_code === undefined && error_status === undefined
    ? null
    : { status: error_status ?? null, code: error_code ?? null, message: error_message ?? null };

const targetOf = ({ endpoint, component, tries = 1 }: UsageEvent): RequestDetail['target'] =>
  endpoint === undefined ? null : { deployment: deploymentIdOf(endpoint) ?? null, endpoint, component: component ?? null, tries };

const SAMPLED = 1;

// https://www.w3.org/TR/trace-context/#traceparent-header
const traceOf = (traceparent: string | undefined): RequestDetail['trace'] => {
  const [, trace_id, parent_id, flags = ''] = traceparent?.split('-') ?? [];
  return trace_id && parent_id ? { trace_id, parent_id, is_sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED } : null;
};

/** Converts a request's event, with its cost, to the wire. */
export const requestDetail = ({ original: event }: RatedRequest, cost: RequestCost): RequestDetail => ({
  object: 'request',
  id: event.request_id,
  organization: event.org_id,
  api_key_id: event.key_id,
  project_id: event.project_id ?? null,
  created_at: unixSeconds(requestTimeMs(event.request_id)),
  model: event.model ?? null,
  fallback: event.fallback ?? null,
  attempts: event.attempts ?? [],
  route: event.route ?? null,
  stream: event.stream ?? null,
  status: statusOf(event) ?? null,
  outcome: event.outcome,
  error: errorOf(event),
  finish_reason: event.finish_reason,
  time_to_first_token_ms: event.time_to_first_token_ms,
  duration_ms: event.duration_ms,
  phases: phasesOf(event),
  target: targetOf(event),
  limiter: event.limiter ?? null,
  usage: {
    input_tokens: event.prompt_tokens,
    cached_tokens: event.cached_tokens,
    output_tokens: event.completion_tokens,
    source: event.source,
    is_overcounted: event.is_overcounted ?? false,
  },
  cost,
  ignored: event.ignored ?? [],
  trace: traceOf(event.traceparent),
  user: event.user ?? null,
  user_id: event.user_id ?? null,
  metadata: event.metadata ?? null,
  is_payload_logged: event.is_payload_logged ?? false,
});
