import * as z from 'zod';
import { callLimitOf, limitsOf, textForAll } from '../../../functions/control/access/call-limits.ts';
import type { ControlOperation, ControlTag } from '../../../functions/control/access/route.ts';
import type { Operation } from '../../../shared/hosts/operation.ts';
import { permissionsOf, ROLES } from '../../../shared/hosts/permissions.ts';
import { API_VERSIONS } from '../../../shared/hosts/service-routes.ts';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';
import { controlErrorReplies } from './control-errors.ts';
import { createDocument } from './document.ts';
import type { JsonSchema } from './json-schema.ts';
import { serviceOperations } from './service-operations.ts';

const DESCRIPTION = `The control plane manages Sluice's organizations, users, API keys, models, deployments, prices, credit and invoices, and keeps an audit log.
Other hosts generate text.

**Log in.** Send your email address and password to \`POST ${AUTH_PATHS.login}\`. The first login uses the temporary password from your invitation. It returns
a challenge, and so does a login with a second factor. Send the \`access_token\` of the session with every other request, in the header
\`Authorization: Bearer <access token>\`. It is valid for an hour; \`POST ${AUTH_PATHS.refresh}\` returns a new one. To try requests on this page, enter the
token under *Authorize*.

**Roles.** Each operation names the permission that it requires, and each role is a set of permissions. In an organization, a \`member\` manages their own
API keys, a \`viewer\` reads, \`billing\` sees usage and money, and an \`owner\` does everything. For the platform, an \`admin\` manages it, \`support\`
answers tickets, and \`platform_billing\` issues invoices. \`GET /v1/me\` lists your permissions. Resources of other organizations return 404.

**Changes.** A resource has a \`version\`, which is also its \`ETag\`. If you send it in \`If-Match\`, a change fails with 412 when someone else has
changed the resource first. Every change is written together with its entry in the audit log: who did what, when, and from where.

**Lists** return pages of \`limit\` entries, at most 100. If \`has_more\` is true, send \`next\` as \`after\` to get the next page.

**Errors** have one format: \`error\` with \`message\`, \`type\`, \`param\` and \`code\`. In a 401, \`error\` is a string. Every response has an
\`x-request-id\`. Unknown fields and parameters return 400. Every path supports OPTIONS, and HEAD if it supports GET. Other methods return 405 and list
the supported ones in \`allow\`.`;

const TAGS = {
  Overview: 'What to look at first, and where to find something.',
  Sessions: 'Log in, and manage your own password and second factor.',
  Organizations: 'The organizations that are billed, with their limits and credit.',
  Users: 'The people who can log in, and their roles.',
  'Service accounts': 'Accounts of programs, and how programs prove who they are.',
  'API keys': 'The keys for the hosts that generate text.',
  Projects: 'Parts of an organization whose usage and costs are shown on their own.',
  Models: 'The models that can be called, and where they run.',
  'Identity providers': 'The providers with which the users of an organization sign in.',
  Prices: 'The prices of models, and when they take effect.',
  Deployments: 'Models that organizations run on GPUs of their own: from creation to deletion, and what they can run on.',
  Usage: "Usage and costs by time, in the shape of OpenAI's admin API.",
  Billing: 'Invoices and credit notes, who sells and who buys, the events behind an invoice, and corrections of prices.',
  Webhooks: 'Where an organization is notified of what happens.',
  Observability: 'What happened to each request, and how the service is doing.',
  Tickets: 'Questions to support, with what is known of the requests that they are about.',
  'Audit log': 'Who did what, and when.',
  SCIM: 'The tokens with which identity providers create and deactivate users at `/scim/v2`, as RFC 7644 says.',
  Service: 'The health, the version and the reference of this host.',
} as const satisfies Record<ControlTag | 'Service', string>;

const health = {
  name: 'Health',
  schema: z.object({ status: z.literal('ok') }),
  examples: { health: { summary: 'Healthy', value: { status: 'ok' } } },
};

const accessSentence = ({ access, method, isOpenToSuspended }: Operation): string => {
  if (access === 'public') return 'Requires no access token.';
  const isKeptOpen = isOpenToSuspended && method !== 'GET';
  const roles = ROLES.filter((role) => (permissionsOf(role) as ReadonlySet<string>).has(access));
  return `Requires the permission \`${access}\`, which ${roles.length === 1 ? 'one role has' : 'these roles have'}: ${roles.join(', ')}.${isKeptOpen ? ' Also allowed for members of a suspended organization.' : ''}`;
};

const limitsSentence = (operation: Operation): string => {
  const bounds = limitsOf(operation as ControlOperation).flatMap((name) => callLimitOf(name).bounds);
  return bounds.length === 0 ? '' : `Limits: ${bounds.map(textForAll).join('; ')}.`;
};

// Routes don't list these: invalid requests, access tokens, roles, too many calls, stale versions and large bodies.
const impliedErrors = ({ access, body, isVersioned, tag }: Operation): number[] => {
  if (tag === 'Service') return [];
  return [400, 401, ...(access === 'public' ? [] : [403, 429]), ...(isVersioned ? [412] : []), ...(body ? [413] : [])];
};

/** The OpenAPI 3.1 document of the control plane's host. */
export const controlDocument = (operations: readonly Operation<ControlTag>[]): JsonSchema =>
  createDocument<ControlTag | 'Service'>([...operations, ...serviceOperations(health)], {
    title: 'Sluice control plane',
    description: DESCRIPTION,
    version: API_VERSIONS.control,
    security: { session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The access token from a login.' } },
    tags: TAGS,
    errorReplies: controlErrorReplies,
    replyDirection: 'output',
    idempotency:
      'A key of your choice, up to 255 visible ASCII characters. Use a new key for each new request. A request that is repeated with the same key is executed only once. The same key with a different body returns 422.',
    impliedErrors,
    accessSentence: (operation) =>
      operation.tag === 'Service' ? undefined : [accessSentence(operation), limitsSentence(operation)].join('\n\n').trim(),
  });
