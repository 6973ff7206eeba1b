import { ResponseNotFound } from '../../../functions/catalog/responses.ts';
import { type Refused, refusedBy, TooManyNewUsers } from '../../../functions/inference/admission/limit-errors.ts';
import { MAX_NEW_USERS_PER_MINUTE } from '../../../functions/inference/admission/reserve-user.ts';
import { UserRequired } from '../../../functions/inference/admission/user.ts';
import { DeploymentWaking, type NotWaiting } from '../../../functions/inference/capacity/errors.ts';
import { invalidWait } from '../../../functions/inference/capacity/wait-header.ts';
import { StructuredOutputsOff } from '../../../functions/inference/chat/check-format.ts';
import { chatRequest } from '../../../functions/inference/chat/request.ts';
import { UnsupportedByModel } from '../../../functions/inference/chat/unsupported-by-model.ts';
import { invalidFallbackHeader } from '../../../functions/inference/fallback/fallback-header.ts';
import { IdempotencyInProgress, IdempotentResultNotStored } from '../../../functions/inference/idempotency/errors.ts';
import { ItemNotFound, PreviousResponseNotFound } from '../../../functions/inference/responses/errors.ts';
import { expiredKey, ModelNotAllowed, missingKey, wrongHost, wrongKey } from '../../../shared/admission/item/key-errors.ts';
import { OrganizationSuspended } from '../../../shared/admission/item/organization.ts';
import { TooManyReads } from '../../../shared/admission/stores/read-limit.ts';
import type { Host } from '../../../shared/hosts/host.ts';
import type { ErrorStatus } from '../../../shared/hosts/operation.ts';
import { type ApiError, InternalError, ServiceUnavailable } from '../../../shared/http/errors.ts';
import { IdempotencyKeyReused } from '../../../shared/http/idempotency-key.ts';
import { INFERENCE_HEADERS, LIMIT_HEADERS } from '../../../shared/http/reply-headers.ts';
import { validate } from '../../../shared/http/validate.ts';
import { ModelNotFound, ModelNotPriced } from '../../../shared/models/errors.ts';
import { UpstreamFailed } from '../../../shared/upstream/errors.ts';
import { type ErrorReply, EXAMPLE_REQUEST_ID, refusalOf, requestTooLarge } from './error-reply.ts';

const ask = { model: 'qwen3-8b', messages: [{ role: 'user', content: 'Hello' }] };
const chatRefusal = (body: unknown): ApiError => refusalOf(() => validate(chatRequest, body));
const limits = { requestsPerMinute: 600, tokensPerMinute: 200_000, concurrency: 32 };
const refused = (facts: Pick<Refused, 'refusal'> & Partial<Refused>): ApiError =>
  refusedBy({
    owner: 'key',
    param: null,
    maxTokensField: 'max_tokens',
    limits,
    tokens: 250_000,
    holdNanos: 2_100_000n,
    headers: {},
    ...facts,
  });

// The middle of a wake that began five minutes before it is expected to end.
const NOW_MS = 1_795_262_400_000;
const START = { startedAtMs: NOW_MS - 120_000, expectedAtMs: NOW_MS + 180_000, p50: 300, p90: 420 };

export const WAITING_LIMITS = { ofDeployment: 50, ofOrganization: 50 };

/** A deployment that is starting, as a host reports it. */
export const wakingExample = (host: Host, why: NotWaiting): ApiError =>
  new DeploymentWaking(host, ask.model, { start: START, why, limits: WAITING_LIMITS, nowMs: NOW_MS });

/** The errors about the end user of a request, by their names in the references. @param param that names the user */
export const endUserErrors = (param: string) => ({
  user_required: new UserRequired(param),
  user_requests: refused({ owner: 'user', param, refusal: { dimension: 'requests', retryAfterMs: 1_480 } }),
  user_concurrency: refused({ owner: 'user', param, refusal: { dimension: 'concurrency', retryAfterMs: 1_000 } }),
  user_budget_spent: refused({
    owner: 'user',
    param,
    refusal: { dimension: 'budget', period: 'month', isHeld: false, retryAfterMs: 86_400_000 },
  }),
  new_users: new TooManyNewUsers(MAX_NEW_USERS_PER_MINUTE, 20_000, param),
});

const { user_required, ...limitsOfUser } = endUserErrors('user');

/** The serverless host's error responses by status. */
export const inferenceErrorReplies = {
  400: {
    description: 'The request is invalid, or uses a feature that the model does not support. `param` names the field.',
    schema: 'Error',
    headers: INFERENCE_HEADERS,
    errors: {
      missing_property: chatRefusal({ messages: ask.messages }),
      contradiction: chatRefusal({ ...ask, n: 2, temperature: 0 }),
      unsupported_parameter: new UnsupportedByModel('tools', ask.model),
      structured_outputs_off: new StructuredOutputsOff('response_format', ask.model),
      wait_for_capacity: invalidWait(),
      fallback_header: invalidFallbackHeader(),
      user_required,
    },
  },
  401: {
    description: 'The API key is missing, invalid, expired or for another host. Here `error` is a string.',
    schema: 'Unauthorized',
    headers: [],
    errors: { missing: missingKey(), wrong: wrongKey(), expired: expiredKey(), other_host: wrongHost('on_demand') },
  },
  403: {
    description: 'The API key is not allowed to use this model, or its organization is suspended.',
    schema: 'Error',
    headers: LIMIT_HEADERS,
    errors: { model_not_allowed: new ModelNotAllowed(ask.model, {}), suspended: new OrganizationSuspended() },
  },
  404: {
    description: 'A resource in the request does not exist.',
    schema: 'Error',
    headers: LIMIT_HEADERS,
    errors: {
      model_not_found: new ModelNotFound('qwen3-9b'),
      response: new ResponseNotFound('resp_8fK2'),
      previous_response: new PreviousResponseNotFound('resp_8fK2'),
      item: new ItemNotFound('msg_8fK2_0', 0),
    },
  },
  409: {
    description: 'The first request with this idempotency key is still in progress, or its result was not stored.',
    schema: 'Error',
    headers: [...INFERENCE_HEADERS, 'retry-after', 'retry-after-ms', 'x-should-retry', 'x-sluice-idempotency'],
    errors: {
      in_progress: new IdempotencyInProgress({ leaseMs: 5_000 }),
      not_stored: new IdempotentResultNotStored({ requestId: EXAMPLE_REQUEST_ID }),
    },
  },
  422: {
    description: 'The idempotency key was used for a different request.',
    schema: 'Error',
    headers: [...INFERENCE_HEADERS, 'x-should-retry'],
    errors: { key_reused: new IdempotencyKeyReused() },
  },
  413: {
    description: 'The body is larger than 4.5 MB.',
    schema: 'Error',
    headers: [],
    errors: {
      request_too_large: requestTooLarge(),
    },
  },
  429: {
    description:
      'A limit of the API key, of its project or of its organization has been reached, or one that the API key has for each of its end users: then `param` names the field or the header of the end user. Official clients wait for `retry-after` and retry automatically. `insufficient_quota`: the budget or the credit has been spent, and `x-should-retry` is `false`. Another model is never tried instead.',
    schema: 'Error',
    headers: [...INFERENCE_HEADERS, 'retry-after', 'retry-after-ms', 'x-should-retry'],
    errors: {
      requests: refused({ refusal: { dimension: 'requests', retryAfterMs: 1_480 } }),
      tokens: refused({ refusal: { dimension: 'tokens', retryAfterMs: 9_200 } }),
      concurrency: refused({ refusal: { dimension: 'concurrency', retryAfterMs: 1_000 } }),
      ...limitsOfUser,
      reads: new TooManyReads(100, {}),
      too_large: refused({ refusal: { dimension: 'tokens', retryAfterMs: Number.POSITIVE_INFINITY } }),
      budget_spent: refused({ refusal: { dimension: 'budget', period: 'month', isHeld: false, retryAfterMs: 86_400_000 } }),
      project_budget_spent: refused({
        owner: 'project',
        refusal: { dimension: 'budget', period: 'month', isHeld: false, retryAfterMs: 86_400_000 },
      }),
      credit_spent: refused({ owner: 'organization', refusal: { dimension: 'credit', isHeld: false, retryAfterMs: 3_600_000 } }),
      credit_held: refused({ owner: 'organization', refusal: { dimension: 'credit', isHeld: true, retryAfterMs: 1_000 } }),
    },
  },
  500: {
    description: 'An internal error. It has been logged under the request id.',
    schema: 'Error',
    headers: INFERENCE_HEADERS,
    errors: { internal_error: new InternalError() },
  },
  503: {
    description: 'The model or the service is temporarily unavailable. A failed request without streaming is not charged.',
    schema: 'Error',
    headers: [...INFERENCE_HEADERS, 'retry-after', 'retry-after-ms', 'x-should-retry'],
    errors: {
      deployment_waking: wakingExample({ scope: 'serverless' }, 'not_requested'),
      no_capacity: new UpstreamFailed('no_capacity', ''),
      model_not_ready: new UpstreamFailed('model_not_ready', ''),
      upstream_timeout: new UpstreamFailed('upstream_timeout', ''),
      upstream_error: new UpstreamFailed('upstream_error', ''),
      service_unavailable: new ServiceUnavailable(),
      not_priced: new ModelNotPriced(ask.model),
    },
  },
} as const satisfies Partial<Record<ErrorStatus, ErrorReply>>;
