import * as z from 'zod';
import { pageOf } from '../../../shared/http/page.ts';
import { createRoute } from '../access/route.ts';
import { OrganizationId } from '../organizations/organization.ts';
import type { IdentityProviderDependencies } from './dependencies.ts';
import {
  DeletedIdentityProvider,
  IdentityProviderResource,
  IdentityProviderUpdate,
  NewIdentityProvider,
  toIdentityProviderResource,
} from './identity-provider-resource.ts';
import { IdentityProviderEventResource, listEvents } from './list-events.ts';
import { createProvider, deleteProvider, listProviders, updateProvider, visibleProvider } from './manage-identity-providers.ts';
import { BegunTest, beginTest, retrieveTest, TestResult } from './test-provider.ts';
import { verifyDomain } from './verify-domain.ts';

const route = createRoute<IdentityProviderDependencies>('Identity providers');
const providers = '/v1/identity-providers';
const oneProvider = `${providers}/{id}`;
const parameters = { id: { description: 'The id of an identity provider.', example: 'idp_VbdBUPc4RtYvB8fK2m' } } as const;
const provider = { name: 'IdentityProvider', schema: IdentityProviderResource };

const organization = OrganizationId.optional().meta({
  description: 'The organization of the identity provider. Required for admins; otherwise your own organization.',
});
const OrganizationQuery = z.strictObject({ organization });

const placeOf = ({ id = '' }: Record<string, string>, query: { organization?: string | undefined }) => ({
  id,
  organization: query.organization,
});

export const identityProviderRoutes = [
  route(
    {
      method: 'POST',
      path: providers,
      operationId: 'createIdentityProvider',
      summary: 'Connect an identity provider',
      description:
        'Connects an OpenID provider, such as Okta or Microsoft Entra ID, with which the users of your organization can then sign in. An organization can have at most 5.',
      access: 'identity_providers:write',
      isForPeople: true,
      needsFreshLogin: true,
      limits: ['identity_provider_calls'],
      body: {
        name: 'NewIdentityProvider',
        schema: NewIdentityProvider,
        example: {
          name: 'Okta',
          issuer: 'https://example.okta.com',
          client_id: '0oa1example',
          client_secret: 'the-client-secret',
          domains: ['example.com'],
          role_claim: 'groups',
          role_mapping: [
            { value: 'sluice-owners', role: 'owner' },
            { value: 'sluice-users', role: 'member' },
          ],
        },
      },
      reply: { status: 201, description: 'The identity provider.', json: provider },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, body }) => createProvider(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: providers,
      operationId: 'listIdentityProviders',
      summary: 'List identity providers',
      access: 'identity_providers:read',
      query: OrganizationQuery,
      reply: {
        status: 200,
        description: 'All identity providers of the organization, oldest first.',
        json: { name: 'IdentityProviderList', schema: pageOf(IdentityProviderResource) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listProviders(deps, actor, query.organization),
  ),
  route(
    {
      method: 'GET',
      path: oneProvider,
      operationId: 'retrieveIdentityProvider',
      summary: 'Retrieve an identity provider',
      access: 'identity_providers:read',
      parameters,
      query: OrganizationQuery,
      reply: { status: 200, description: 'The identity provider, without its client secret.', json: provider },
      errors: [400, 404, 503],
    },
    async ({ deps, actor, parameters: path, query }) =>
      toIdentityProviderResource(await visibleProvider(deps, actor, placeOf(path, query)), deps.controlUrl),
  ),
  route(
    {
      method: 'PATCH',
      path: oneProvider,
      operationId: 'updateIdentityProvider',
      summary: 'Update an identity provider',
      description:
        "Fields that you omit keep their values. With `enforced`, passwords of the organization's users are refused, except that of the owner in `break_glass`.",
      access: 'identity_providers:write',
      isForPeople: true,
      needsFreshLogin: true,
      limits: ['identity_provider_calls'],
      parameters,
      query: OrganizationQuery,
      isVersioned: true,
      body: { name: 'IdentityProviderUpdate', schema: IdentityProviderUpdate, example: { default_role: 'viewer' } },
      reply: { status: 200, description: 'The identity provider.', json: provider },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: path, query, body, expected }) => updateProvider(deps, actor, placeOf(path, query), body, expected),
  ),
  route(
    {
      method: 'DELETE',
      path: oneProvider,
      operationId: 'deleteIdentityProvider',
      summary: 'Delete an identity provider',
      description: 'Its users stay. They can use passwords again, after a reset by email if they never had one.',
      access: 'identity_providers:write',
      isForPeople: true,
      needsFreshLogin: true,
      parameters,
      query: OrganizationQuery,
      isVersioned: true,
      reply: {
        status: 200,
        description: 'The identity provider was deleted.',
        json: { name: 'DeletedIdentityProvider', schema: DeletedIdentityProvider },
      },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, parameters: path, query, expected }) => deleteProvider(deps, actor, placeOf(path, query), expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneProvider}/domains/{domain}/verify`,
      operationId: 'verifyDomain',
      summary: 'Verify a domain',
      description: "Looks up the TXT record of the domain, which the identity provider's `domains` show.",
      access: 'identity_providers:write',
      isForPeople: true,
      needsFreshLogin: true,
      limits: ['identity_provider_calls'],
      parameters: { ...parameters, domain: { description: 'A domain of the identity provider.', example: 'example.com' } },
      query: OrganizationQuery,
      reply: { status: 200, description: 'The identity provider; the domain is verified.', json: provider },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: path, query }) => verifyDomain(deps, actor, placeOf(path, query), path.domain ?? ''),
  ),
  route(
    {
      method: 'POST',
      path: `${oneProvider}/test`,
      operationId: 'testIdentityProvider',
      summary: 'Test an identity provider',
      description: 'Begins a dry login, which changes nothing. Its result shows the claims, the role and what a login would do.',
      access: 'identity_providers:write',
      isForPeople: true,
      limits: ['identity_provider_calls'],
      parameters,
      query: OrganizationQuery,
      reply: { status: 201, description: 'The dry login.', json: { name: 'BegunIdentityProviderTest', schema: BegunTest } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: path, query }) => beginTest(deps, actor, placeOf(path, query)),
  ),
  route(
    {
      method: 'GET',
      path: `${oneProvider}/test/{test}`,
      operationId: 'retrieveIdentityProviderTest',
      summary: 'Retrieve the result of a test',
      description: 'The result is kept for an hour.',
      access: 'identity_providers:write',
      parameters: { ...parameters, test: { description: 'The id of a test.', example: 'h2Vb8TqLk0sWmYxZc4RfJ6Nd1GpEaUoX' } },
      query: OrganizationQuery,
      reply: { status: 200, description: 'The result.', json: { name: 'IdentityProviderTestResult', schema: TestResult } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: path, query }) => retrieveTest(deps, actor, placeOf(path, query), path.test ?? ''),
  ),
  route(
    {
      method: 'GET',
      path: `${oneProvider}/events`,
      operationId: 'listIdentityProviderEvents',
      summary: 'List the logins with an identity provider',
      description:
        'Who signed in, and why others were refused. The page that a refused user sees says it only in general. Only the newest are kept: at most 80 with a verified token, and 20 others. If many logins are refused at once, some of them are left out. Tests are not among them.',
      access: 'identity_providers:read',
      parameters,
      query: OrganizationQuery,
      reply: {
        status: 200,
        description: 'The newest logins, newest first.',
        json: { name: 'IdentityProviderEventList', schema: pageOf(IdentityProviderEventResource) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: path, query }) => listEvents(deps, actor, placeOf(path, query)),
  ),
];
