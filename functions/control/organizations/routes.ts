import * as z from 'zod';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { idempotencyKeyOf } from '../../../shared/http/idempotency-key.ts';
import { pageOf } from '../../../shared/http/page.ts';
import { type Actor, isOfPlatform, SecondFactorRequired } from '../access/actor.ts';
import { createRoute } from '../access/route.ts';
import { OrganizationLimits } from '../limits/limits.ts';
import { SHORT_PAGES } from '../lists/filtered-page.ts';
import { type BalanceDependencies, balanceOf } from './balance.ts';
import { createOrganization, NewOrganization } from './create-organization.ts';
import {
  balanceToWire,
  CreditBalance,
  CreditGrant,
  createCreditGrant,
  type GrantDependencies,
  listGrants,
  NewCreditGrant,
} from './credit.ts';
import { listOrganizations, OrganizationsQuery } from './list-organizations.ts';
import { Organization } from './organization.ts';
import {
  limitOrganization,
  OrganizationUpdate,
  StatusReason,
  setSuspended,
  type UpdateOrganizationDependencies,
  updateOrganization,
} from './update-organization.ts';

const route = createRoute<GrantDependencies & BalanceDependencies & UpdateOrganizationDependencies>('Organizations');
const organizations = '/v1/organizations';
const oneOrganization = `${organizations}/{id}`;
const creditGrants = `${oneOrganization}/credit-grants`;
const parameters = { id: { description: 'The id of an organization.', example: 'org_VbdBUPc4RtYvB8fK2m' } } as const;
const organization = { name: 'Organization', schema: Organization };
const change = {
  parameters,
  isVersioned: true,
  reply: { status: 200, description: 'The organization.', json: organization },
  errors: [400, 404, 412, 503],
} as const;

// Another organization's is a 404, except for admins.
const own = (actor: Actor, { id = '' }: Record<string, string>): string => {
  if (!isOfPlatform(actor) && actor.organization !== id) throw new ResourceNotFound('organization', id);
  return id;
};

export const organizationRoutes = [
  route(
    {
      method: 'POST',
      path: organizations,
      operationId: 'createOrganization',
      summary: 'Create an organization',
      access: 'organizations:manage',
      needsFreshLogin: true,
      body: { name: 'NewOrganization', schema: NewOrganization, example: { name: 'Acme' } },
      reply: { status: 201, description: 'The organization. It has no users and keys yet, and the default limits.', json: organization },
      errors: [400, 503],
    },
    ({ deps, actor, body }) => createOrganization(deps, actor.origin, body),
  ),
  route(
    {
      method: 'GET',
      path: organizations,
      operationId: 'listOrganizations',
      summary: 'List organizations',
      description: SHORT_PAGES,
      access: 'organizations:list',
      query: OrganizationsQuery,
      reply: {
        status: 200,
        description: 'A page of organizations, newest first.',
        json: { name: 'OrganizationList', schema: pageOf(Organization) },
      },
      errors: [400, 503],
    },
    ({ deps, query }) => listOrganizations(deps, query),
  ),
  route(
    {
      method: 'GET',
      path: oneOrganization,
      operationId: 'retrieveOrganization',
      summary: 'Retrieve an organization',
      access: 'organization:read',
      parameters,
      reply: { status: 200, description: 'The organization.', json: organization },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: path }) => deps.organizations.get(own(actor, path)),
  ),
  route(
    {
      method: 'PATCH',
      path: oneOrganization,
      operationId: 'updateOrganization',
      summary: 'Update an organization',
      description:
        'Fields that you omit keep their values. With `no_content`, nothing is stored for requests of its API keys that are admitted after the change, and new keys have the setting from their first request on. When the reply comes, the change has reached all keys (`no_content_pending` is false). Stored responses stay until they expire or are deleted.',
      access: 'organization:write',
      needsFreshLogin: true,
      ...change,
      body: { name: 'OrganizationUpdate', schema: OrganizationUpdate, example: { name: 'Acme Corporation', no_content: true } },
    },
    ({ deps, actor, hasSecondFactor, parameters: path, body, expected }) => {
      // Otherwise this request would be the last one that its sender can make.
      if (body.require_second_factor && hasSecondFactor === false) throw new SecondFactorRequired('To require it of others, you need');
      return updateOrganization(deps, actor, own(actor, path), body, expected);
    },
  ),
  route(
    {
      method: 'PUT',
      path: `${oneOrganization}/limits`,
      operationId: 'limitOrganization',
      summary: 'Set the limits that all keys of an organization share',
      description: 'Replaces all limits of the organization. Each key applies them from its next request on.',
      access: 'organizations:manage',
      needsFreshLogin: true,
      ...change,
      body: {
        name: 'OrganizationLimits',
        schema: OrganizationLimits,
        example: { requests_per_minute: 6_000, month_budget: '500', prepaid: false },
      },
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => limitOrganization(deps, actor.origin, id, body, expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneOrganization}/suspend`,
      operationId: 'suspendOrganization',
      summary: 'Suspend an organization',
      description: 'Its API keys stop working from their next request on, and its members get read-only access.',
      access: 'organizations:manage',
      needsFreshLogin: true,
      ...change,
      body: { name: 'Reason', schema: StatusReason, example: { reason: 'Invoice 2026-117 is overdue.' } },
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) =>
      setSuspended(deps, actor.origin, id, { isSuspended: true, ...body }, expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneOrganization}/resume`,
      operationId: 'resumeOrganization',
      summary: 'Resume a suspended organization',
      access: 'organizations:manage',
      needsFreshLogin: true,
      ...change,
      body: { name: 'Reason', schema: StatusReason, example: { reason: 'Paid.' } },
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) =>
      setSuspended(deps, actor.origin, id, { isSuspended: false, ...body }, expected),
  ),
  route(
    {
      method: 'POST',
      path: creditGrants,
      operationId: 'grantCredit',
      summary: 'Grant prepaid credit',
      description: 'Adds an entry to the credit ledger. With an `Idempotency-Key`, a repeated request does not grant the credit again.',
      access: 'credit:grant',
      needsFreshLogin: true,
      parameters,
      isIdempotent: true,
      body: { name: 'NewCreditGrant', schema: NewCreditGrant, example: { amount: '100', reason: 'Invoice 2026-117' } },
      reply: { status: 201, description: 'The grant.', json: { name: 'CreditGrant', schema: CreditGrant } },
      errors: [400, 404, 409, 422, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body, event }) => createCreditGrant(deps, actor.origin, id, body, idempotencyKeyOf(event)),
  ),
  route(
    {
      method: 'GET',
      path: creditGrants,
      operationId: 'listCreditGrants',
      summary: 'List credit grants',
      description: 'Returns the whole credit ledger: grants, deductions and expiries.',
      access: 'billing:read',
      parameters,
      reply: {
        status: 200,
        description: 'All entries, newest first.',
        json: { name: 'CreditGrantList', schema: z.object({ object: z.literal('list'), data: z.array(CreditGrant) }) },
      },
      errors: [404, 503],
    },
    async ({ deps, actor, parameters: path }) => {
      const { id } = await deps.organizations.get(own(actor, path));
      return { object: 'list', data: await listGrants(deps, id) };
    },
  ),
  route(
    {
      method: 'GET',
      path: `${oneOrganization}/balance`,
      operationId: 'retrieveBalance',
      summary: 'Retrieve the credit balance of an organization',
      access: 'billing:read',
      parameters,
      reply: {
        status: 200,
        description: 'The credit that was granted, spent, is held and is left.',
        json: { name: 'CreditBalance', schema: CreditBalance },
      },
      errors: [404, 409, 503],
    },
    async ({ deps, actor, parameters: path }) => {
      const { id } = await deps.organizations.get(own(actor, path));
      return balanceToWire(await balanceOf(deps, id));
    },
  ),
];
