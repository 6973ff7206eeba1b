import { requirePermission, SecondFactorRequired } from '../../../functions/control/access/actor.ts';
import { CALL_LIMITS, TooManyCalls } from '../../../functions/control/access/call-limits.ts';
import { tooManyOfMember } from '../../../functions/control/api-keys/key-quota.ts';
import { InstanceTypeNotPriced, RolloutUnfinished } from '../../../functions/control/deployments/errors.ts';
import { RefreshRefused } from '../../../functions/control/sessions/errors.ts';
import { LoginRefused } from '../../../functions/sign-in/errors.ts';
import { LoginCredentials } from '../../../functions/sign-in/session.ts';
import { OrganizationSuspended } from '../../../shared/admission/item/organization.ts';
import { OutOfCredit } from '../../../shared/gpu-time/start-credit.ts';
import type { ErrorStatus } from '../../../shared/hosts/operation.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { InternalError, PreconditionFailed, ResourceNotFound, ServiceUnavailable } from '../../../shared/http/errors.ts';
import { IdempotencyKeyReused } from '../../../shared/http/idempotency-key.ts';
import { expectedVersions } from '../../../shared/http/precondition.ts';
import { validate } from '../../../shared/http/validate.ts';
import { expiredToken, missingToken, RightsChanged, TooManyAttempts, WeakPassword, wrongToken } from '../../../shared/identity/errors.ts';
import { emailTaken } from '../../../shared/identity/user-store.ts';
import { type ErrorReply, refusalOf, requestTooLarge } from './error-reply.ts';

const email = 'ada@example.com';
const ifMatch = (tag: string): ApiEvent => ({ headers: { 'if-match': tag } }) as unknown as ApiEvent;

/** The control plane's error responses by status. */
export const controlErrorReplies = {
  400: {
    description: 'The request is invalid. `param` names the field, parameter or header.',
    schema: 'Error',
    headers: [],
    errors: {
      missing_property: refusalOf(() => validate(LoginCredentials, { email })),
      unknown_property: refusalOf(() => validate(LoginCredentials, { email, password: 'correct-Horse-9-battery', remember: true })),
      weak_password: new WeakPassword('new_password'),
      if_match: refusalOf(() => expectedVersions(ifMatch('3'))),
    },
  },
  401: {
    description: 'The access token is missing, invalid or expired, or the login or refresh was rejected. Here `error` is a string.',
    schema: 'Unauthorized',
    headers: ['www-authenticate'],
    errors: {
      missing: missingToken(),
      wrong: wrongToken(),
      expired: expiredToken(),
      login: new LoginRefused(),
      refresh: new RefreshRefused(),
    },
  },
  403: {
    description:
      'Your role does not allow this request, or changed while it was handled, or your organization is suspended, or you are an admin without a second factor.',
    schema: 'Error',
    headers: [],
    errors: {
      insufficient_role: refusalOf(() => requirePermission({ role: 'member' }, 'users:write')),
      second_factor_required: new SecondFactorRequired(),
      rights_changed: new RightsChanged(),
      suspended: new OrganizationSuspended(),
    },
  },
  404: {
    description: 'The resource does not exist, or belongs to another organization.',
    schema: 'Error',
    headers: [],
    errors: {
      user: new ResourceNotFound('user', 'user_0q8Xc2VwQy41mTzNbR'),
      organization: new ResourceNotFound('organization', 'org_VbdBUPc4RtYvB8fK2m', 'organization'),
    },
  },
  409: {
    description: 'The state of this resource, or of another one, does not allow the request. `code` says why.',
    schema: 'Error',
    headers: [],
    errors: {
      email_taken: emailTaken(),
      instance_type_not_priced: new InstanceTypeNotPriced('ml.g5.xlarge'),
      out_of_credit: new OutOfCredit('qwen3-8b', { neededNanos: 352_500_000n, availableNanos: 100_000_000n }),
      rollout_unfinished: new RolloutUnfinished(),
    },
  },
  412: {
    description: 'The resource does not have the version in `If-Match`, or another change was made first. Read the resource again.',
    schema: 'Error',
    headers: [],
    errors: { version_conflict: new PreconditionFailed() },
  },
  413: {
    description: 'The body is larger than 4.5 MB.',
    schema: 'Error',
    headers: [],
    errors: { request_too_large: requestTooLarge() },
  },
  422: {
    description: 'The idempotency key was used for a different request.',
    schema: 'Error',
    headers: ['x-should-retry'],
    errors: { key_reused: new IdempotencyKeyReused() },
  },
  429: {
    description:
      'There were too many attempts, or too many calls: the message names the limit, and the description of each operation lists its limits. `retry-after` is the time to wait before the next one.',
    schema: 'Error',
    headers: ['retry-after'],
    errors: {
      too_many_attempts: new TooManyAttempts(),
      too_many_calls: new TooManyCalls(CALL_LIMITS.changes.bounds[0], { role: 'owner', organization: 'org_VbdBUPc4RtYvB8fK2m' }, 12_000),
      too_many_keys: tooManyOfMember(20, 0),
    },
  },
  500: {
    description: 'An internal error. It has been logged under the request id.',
    schema: 'Error',
    headers: [],
    errors: { internal_error: new InternalError() },
  },
  503: {
    description:
      'The service is temporarily unavailable. Nothing was changed, unless the response was lost: read the resource before you retry.',
    schema: 'Error',
    headers: ['retry-after'],
    errors: { service_unavailable: new ServiceUnavailable() },
  },
} as const satisfies Partial<Record<ErrorStatus, ErrorReply>>;
