import * as z from 'zod';
import { deploymentIdOf } from '../deployments/names.ts';
import { Nanos, Outcome, type UsageEvent } from '../usage/event.ts';

/** A row of the search index: an extract of the usage event, small enough for one write unit. */
export const RequestRow = z.object({
  request_id: z.string(),
  org_id: z.string(),
  key_id: z.string(),
  /** The project of its key when it was admitted, if any. Rows of release 0.1.0 lack it. */
  project_id: z.string().optional(),
  model: z.string().optional(),
  route: z.string().optional(),
  /** The id of the deployment whose endpoint served it. */
  deployment: z.string().optional(),
  outcome: Outcome,
  /** The HTTP status of the reply; absent if it is not known, as of a request whose function crashed. */
  status: z.int().optional(),
  error_code: z.string().optional(),
  prompt_tokens: z.int().default(0),
  cached_tokens: z.int().default(0),
  completion_tokens: z.int().default(0),
  /** The cost by the first rating. */
  cost_nanos: Nanos.default(0n),
  time_to_first_token_ms: z.int().nullable().default(null),
  duration_ms: z.int(),
  user: z.string().optional(),
  user_id: z.string().optional(),
  /** The part of the caller's object that can be searched by; numbers and booleans as text. */
  metadata: z.record(z.string(), z.string()).optional(),
});
export type RequestRow = z.output<typeof RequestRow>;

// OpenAI's bounds of metadata (https://platform.openai.com/docs/api-reference/chat/create). The event has the rest.
const MAX_PAIRS = 16;
export const MAX_METADATA_KEY_CHARACTERS = 64;
export const MAX_METADATA_VALUE_CHARACTERS = 512;
// Metadata adds at most two write units.
const MAX_METADATA_BYTES = 2_048;

// The first plain values. Undefined if there are none. DynamoDB takes no empty name
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html).
const searchable = (metadata: Readonly<Record<string, unknown>>): Record<string, string> | undefined => {
  const pairs: [string, string][] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(metadata)) {
    if (!['string', 'number', 'boolean'].includes(typeof value)) continue;
    const text = String(value);
    if (key === '' || key.length > MAX_METADATA_KEY_CHARACTERS || text.length > MAX_METADATA_VALUE_CHARACTERS) continue;
    bytes += Buffer.byteLength(key) + Buffer.byteLength(text);
    if (pairs.length === MAX_PAIRS || bytes > MAX_METADATA_BYTES) break;
    pairs.push([key, text]);
  }
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
};

/** Returns the status of a reply that began; earlier versions of events have no status of errors. */
export const statusOf = ({ error_status, error_code, outcome }: UsageEvent): number | undefined => {
  if (error_status !== undefined) return error_status;
  const isAnswered = error_code === undefined && (outcome === 'completed' || outcome === 'timed_out');
  return isAnswered ? 200 : undefined;
};

/** Returns the row of an event; undefined if the event rates a request again, which has a row already. */
export const requestRowOf = (event: UsageEvent): RequestRow | undefined => {
  if (event.rerate) return undefined;
  const status = statusOf(event);
  const deployment = event.endpoint === undefined ? undefined : deploymentIdOf(event.endpoint);
  const metadata = event.metadata && searchable(event.metadata);
  return {
    request_id: event.request_id,
    org_id: event.org_id,
    key_id: event.key_id,
    ...(event.project_id !== undefined && { project_id: event.project_id }),
    ...(event.model !== undefined && { model: event.model }),
    ...(event.route !== undefined && { route: event.route }),
    ...(deployment && { deployment }),
    outcome: event.outcome,
    ...(status !== undefined && { status }),
    ...(event.error_code !== undefined && { error_code: event.error_code }),
    prompt_tokens: event.prompt_tokens,
    cached_tokens: event.cached_tokens,
    completion_tokens: event.completion_tokens,
    cost_nanos: event.cost_nanos,
    time_to_first_token_ms: event.time_to_first_token_ms,
    duration_ms: event.duration_ms,
    ...(event.user !== undefined && { user: event.user }),
    ...(event.user_id !== undefined && { user_id: event.user_id }),
    ...(metadata && { metadata }),
  };
};

/** Returns true if a search for failures finds the request. */
export const hasFailed = ({ outcome, error_code, status = 0 }: Pick<RequestRow, 'outcome' | 'error_code' | 'status'>): boolean =>
  outcome !== 'completed' || error_code !== undefined || status >= 400;
