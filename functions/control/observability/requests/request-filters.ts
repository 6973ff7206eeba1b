import * as z from 'zod';
import {
  MAX_METADATA_KEY_CHARACTERS,
  MAX_METADATA_VALUE_CHARACTERS,
  type RequestRow,
} from '../../../../shared/observability/request-row.ts';
import { Outcome } from '../../../../shared/usage/event.ts';
import { UnixSeconds } from '../../lists/unix-seconds.ts';
import { OrganizationId } from '../../organizations/organization.ts';

const MAX_PAIRS = 16;
const MAX_CHARACTERS = 256;

const nameOf = (description: string) => z.string().min(1).max(MAX_CHARACTERS).optional().meta({ description });

/** The query parameters that select requests. */
export const requestFilters = {
  start_time: UnixSeconds.optional().meta({
    description: 'Only requests that arrived at this time (Unix seconds) or later. Default: 30 days ago; older requests are not kept.',
  }),
  end_time: UnixSeconds.optional().meta({ description: 'Only requests that arrived before this time (Unix seconds). Default: now.' }),
  status: z
    .string()
    .regex(/^[1-5](\d\d|xx)$/, "expected an HTTP status such as '503', or a class such as '5xx'")
    .optional()
    .meta({ description: 'Only requests with this HTTP status, such as `503`, or of this class, such as `5xx`.' }),
  error_code: nameOf('Only requests that failed with this error code.'),
  outcome: Outcome.optional().meta({ description: 'Only requests that ended like this.' }),
  model: nameOf('Only requests to this model.'),
  api_key_id: nameOf('Only requests with this API key. Members see only those with keys that they created.'),
  project_id: nameOf('Only requests whose API key was in this project when they were admitted.'),
  user: nameOf('Only requests of this end user: their `user`, or the `X-User-Id` header.'),
  user_id: nameOf('Only requests with this `X-User-Id` header.'),
  deployment: nameOf('Only requests that the deployment with this id served.'),
  metadata: z
    .record(z.string().max(MAX_METADATA_KEY_CHARACTERS), z.string().max(MAX_METADATA_VALUE_CHARACTERS))
    .refine((pairs) => Object.keys(pairs).length <= MAX_PAIRS, `expected at most ${MAX_PAIRS} keys`)
    .optional()
    .meta({ description: 'Only requests whose `metadata` has all of these values: `metadata[team]=search`.' }),
  min_duration_ms: z
    .string()
    .regex(/^\d{1,9}$/, 'expected milliseconds')
    .transform(Number)
    .optional()
    .meta({ description: 'Only requests that took so many milliseconds or longer.', type: 'integer' }),
  id: nameOf('Only the request with this id.'),
  organization: OrganizationId.optional().meta({ description: 'The organization. Required for admins; otherwise your own.' }),
};

const RequestFilters = z.strictObject(requestFilters);
export type RequestFilters = z.output<typeof RequestFilters>;

const FIRST_FAILURE = 400;

const hasStatus = (wanted: string, status: number | undefined): boolean =>
  status !== undefined && (wanted.endsWith('xx') ? wanted[0] === String(status)[0] : wanted === String(status));

/** Returns true if only failed requests can match. */
export const isAboutFailures = ({ status, error_code, outcome }: RequestFilters): boolean =>
  error_code !== undefined ||
  (outcome !== undefined && outcome !== 'completed') ||
  (status !== undefined && Number(status.replace('xx', '00')) >= FIRST_FAILURE);

/** Returns a predicate for all filters except those of time. */
export const matcherOf =
  (filters: RequestFilters, ownKeys: ReadonlySet<string> | undefined) =>
  (row: RequestRow): boolean => {
    const {
      status,
      error_code,
      outcome,
      model,
      api_key_id,
      project_id,
      user,
      user_id,
      deployment,
      metadata = {},
      min_duration_ms = 0,
      id,
    } = filters;
    const isEqual = (wanted: string | undefined, ...values: (string | undefined)[]): boolean =>
      wanted === undefined || values.includes(wanted);
    return (
      (ownKeys?.has(row.key_id) ?? true) &&
      (status === undefined || hasStatus(status, row.status)) &&
      isEqual(error_code, row.error_code) &&
      isEqual(outcome, row.outcome) &&
      isEqual(model, row.model) &&
      isEqual(api_key_id, row.key_id) &&
      isEqual(project_id, row.project_id) &&
      isEqual(user, row.user, row.user_id) &&
      isEqual(user_id, row.user_id) &&
      isEqual(deployment, row.deployment) &&
      isEqual(id, row.request_id) &&
      row.duration_ms >= min_duration_ms &&
      Object.entries(metadata).every(
        ([key, value]) => row.metadata !== undefined && Object.hasOwn(row.metadata, key) && row.metadata[key] === value,
      )
    );
  };
