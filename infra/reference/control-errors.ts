import { requireRole } from '../../functions/control/access/actor.ts';
import { expiredToken, missingToken, TooManyAttempts, WeakPassword, wrongToken } from '../../functions/control/identity/errors.ts';
import { LoginRefused, RefreshRefused } from '../../functions/control/sessions/errors.ts';
import { Credentials } from '../../functions/control/sessions/session.ts';
import { emailTaken } from '../../functions/control/users/user-store.ts';
import { OrganizationSuspended } from '../../shared/admission/organization.ts';
import type { ErrorStatus } from '../../shared/hosts/operation.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { InternalError, PreconditionFailed, ResourceNotFound, ServiceUnavailable } from '../../shared/http/errors.ts';
import { IdempotencyKeyReused } from '../../shared/http/idempotency-key.ts';
import { expectedVersions } from '../../shared/http/precondition.ts';
import { validate } from '../../shared/http/validate.ts';
import { type ErrorReply, examplesOf, refusalOf, requestTooLarge } from './error-reply.ts';

const email = 'ada@example.com';
const ifMatch = (tag: string): ApiEvent => ({ headers: { 'if-match': tag } }) as unknown as ApiEvent;

/** The control plane's replies to requests that fail, by status. */
export const controlErrorReplies = {
  400: {
    description: 'The request is not as documented. `param` names the property, the parameter or the header.',
    schema: 'Error',
    headers: [],
    examples: examplesOf({
      missing_property: refusalOf(() => validate(Credentials, { email })),
      unknown_property: refusalOf(() => validate(Credentials, { email, password: 'correct-Horse-9-battery', remember: true })),
      weak_password: new WeakPassword('new_password'),
      if_match: refusalOf(() => expectedVersions(ifMatch('3'))),
    }),
  },
  401: {
    description: 'There is no access token, or it does not open; or the login, or the refresh token, is refused. Here `error` is a string.',
    schema: 'Unauthorized',
    headers: ['www-authenticate'],
    examples: examplesOf({
      missing: missingToken(),
      wrong: wrongToken(),
      expired: expiredToken(),
      login: new LoginRefused(),
      refresh: new RefreshRefused(),
    }),
  },
  403: {
    description: 'Your role does not allow it, or your organization is suspended.',
    schema: 'Error',
    headers: [],
    examples: examplesOf({
      insufficient_role: refusalOf(() => requireRole({ role: 'member' }, 'owner')),
      suspended: new OrganizationSuspended(),
    }),
  },
  404: {
    description: 'What the request names does not exist, or is of another organization.',
    schema: 'Error',
    headers: [],
    examples: examplesOf({
      user: new ResourceNotFound('user', 'user_0q8Xc2VwQy41mTzNbR'),
      organization: new ResourceNotFound('organization', 'org_VbdBUPc4RtYvB8fK2m', 'organization'),
    }),
  },
  409: {
    description: 'The state of the resource, or of another one, does not allow it. `code` says which.',
    schema: 'Error',
    headers: [],
    examples: examplesOf({ email_taken: emailTaken() }),
  },
  412: {
    description: 'The resource is not at the version that `If-Match` names, or another change came first. Read it again.',
    schema: 'Error',
    headers: [],
    examples: examplesOf({ version_conflict: new PreconditionFailed() }),
  },
  413: {
    description: 'The body is larger than 4.5 MB.',
    schema: 'Error',
    headers: [],
    examples: examplesOf({ request_too_large: requestTooLarge() }),
  },
  422: {
    description: 'The idempotency key was used for another request.',
    schema: 'Error',
    headers: ['x-should-retry'],
    examples: examplesOf({ key_reused: new IdempotencyKeyReused() }),
  },
  429: {
    description: 'There were too many attempts. `retry-after` says when the next one counts.',
    schema: 'Error',
    headers: ['retry-after'],
    examples: examplesOf({ too_many_attempts: new TooManyAttempts() }),
  },
  500: {
    description: 'Our own fault. It has been logged under the request id.',
    schema: 'Error',
    headers: [],
    examples: examplesOf({ internal_error: new InternalError() }),
  },
  503: {
    description:
      'The service cannot take the request now. Nothing was changed, unless the reply was lost on its way: read before you repeat.',
    schema: 'Error',
    headers: ['retry-after'],
    examples: examplesOf({ service_unavailable: new ServiceUnavailable() }),
  },
} as const satisfies Partial<Record<ErrorStatus, ErrorReply>>;
