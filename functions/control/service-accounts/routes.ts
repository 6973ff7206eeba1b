import * as z from 'zod';
import { pageOf, pageQueryOf } from '../../../shared/http/page.ts';
import { createRoute } from '../access/route.ts';
import { OrganizationId } from '../organizations/organization.ts';
import {
  createServiceAccount,
  deleteServiceAccount,
  listServiceAccounts,
  type ServiceAccountDependencies,
  updateServiceAccount,
} from './manage-service-accounts.ts';
import { createSecret, deleteSecret, listSecrets } from './secrets.ts';
import {
  ChangedServiceAccount,
  DeletedServiceAccount,
  NewSecret,
  NewServiceAccount,
  SecretList,
  SecretWithText,
  ServiceAccount,
  ServiceAccountUpdate,
  toWire,
} from './service-account.ts';
import { visibleServiceAccount } from './service-account-rights.ts';

const route = createRoute<ServiceAccountDependencies>('Service accounts');
const serviceAccounts = '/v1/service-accounts';
const one = `${serviceAccounts}/{id}`;
const secrets = `${one}/secrets`;
const parameters = { id: { description: 'The id of a service account.', example: 'user_0q8Xc2VwQy41mTzNbR' } } as const;
const account = { name: 'ServiceAccount', schema: ServiceAccount };

const ListQuery = z.strictObject({
  ...pageQueryOf('user'),
  organization: OrganizationId.optional().meta({
    description: 'Defaults to your own organization. Required for admins, who can send `platform` to list those of the platform.',
  }),
});
const flag = (description: string) => z.enum(['true', 'false']).default('false').meta({ description });

export const serviceAccountRoutes = [
  route(
    {
      method: 'POST',
      path: serviceAccounts,
      operationId: 'createServiceAccount',
      summary: 'Create a service account',
      description: 'An account for a program. It can have at most the rights that you have.',
      access: 'service_accounts:write',
      needsFreshLogin: true,
      limits: ['aws_calls'],
      body: {
        name: 'NewServiceAccount',
        schema: NewServiceAccount,
        example: { name: 'nightly-report', description: 'Reads costs every night.', role: 'viewer', permissions: ['usage:read'] },
      },
      reply: { status: 201, description: 'The service account.', json: account },
      errors: [400, 404, 409, 429, 503],
    },
    ({ deps, actor, body }) => createServiceAccount(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: serviceAccounts,
      operationId: 'listServiceAccounts',
      summary: 'List service accounts',
      access: 'service_accounts:read',
      query: ListQuery,
      reply: {
        status: 200,
        description: 'A page of service accounts, sorted by id.',
        json: { name: 'ServiceAccountList', schema: pageOf(ServiceAccount) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listServiceAccounts(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: one,
      operationId: 'retrieveServiceAccount',
      summary: 'Retrieve a service account',
      access: 'service_accounts:read',
      parameters,
      reply: { status: 200, description: 'The service account.', json: account },
      errors: [404, 503],
    },
    async ({ deps, actor, parameters: { id = '' } }) => toWire(await visibleServiceAccount(deps, actor, id)),
  ),
  route(
    {
      method: 'PATCH',
      path: one,
      operationId: 'updateServiceAccount',
      summary: 'Update a service account',
      description:
        'A change of its role, permissions or status ends its sessions. If you disable it, the response names its API keys, which keep working unless you revoke them.',
      access: 'service_accounts:write',
      needsFreshLogin: true,
      parameters,
      isVersioned: true,
      body: { name: 'ServiceAccountUpdate', schema: ServiceAccountUpdate, example: { status: 'disabled', revoke_keys: true } },
      reply: {
        status: 200,
        description: 'The updated service account.',
        json: { name: 'ChangedServiceAccount', schema: ChangedServiceAccount },
      },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => updateServiceAccount(deps, actor, id, body, expected),
  ),
  route(
    {
      method: 'DELETE',
      path: one,
      operationId: 'deleteServiceAccount',
      summary: 'Delete a service account',
      description:
        'Deletes its secrets, federation rules and events too. API keys that it created keep working, and the response names them; those of federation rules are revoked. With `revoke_keys=true` they are revoked first. If that returns a 503, repeat the request without If-Match.',
      access: 'service_accounts:write',
      needsFreshLogin: true,
      parameters,
      isVersioned: true,
      query: z.strictObject({ revoke_keys: flag('Whether to revoke the API keys that it created.') }),
      reply: {
        status: 200,
        description: 'The service account was deleted.',
        json: { name: 'DeletedServiceAccount', schema: DeletedServiceAccount },
      },
      errors: [404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, query: { revoke_keys }, expected }) =>
      deleteServiceAccount(deps, actor, id, { revokes: revoke_keys === 'true' }, expected),
  ),
  route(
    {
      method: 'POST',
      path: secrets,
      operationId: 'createServiceAccountSecret',
      summary: 'Create a secret of a service account',
      description:
        'The response contains the secret, which is shown only once. A service account can have two, so that you can replace one.',
      access: 'service_accounts:write',
      needsFreshLogin: true,
      parameters,
      body: { name: 'NewServiceAccountSecret', schema: NewSecret, example: { expires_in_seconds: 7_776_000 } },
      reply: { status: 201, description: 'The secret.', json: { name: 'ServiceAccountSecretWithText', schema: SecretWithText } },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body }) => createSecret(deps, actor, id, body),
  ),
  route(
    {
      method: 'GET',
      path: secrets,
      operationId: 'listServiceAccountSecrets',
      summary: 'List the secrets of a service account',
      access: 'service_accounts:read',
      parameters,
      reply: { status: 200, description: 'Its secrets, oldest first.', json: { name: 'ServiceAccountSecretList', schema: SecretList } },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => listSecrets(deps, actor, id),
  ),
  route(
    {
      method: 'DELETE',
      path: `${secrets}/{secret}`,
      operationId: 'deleteServiceAccountSecret',
      summary: 'Delete a secret of a service account',
      description: 'Access tokens that it opened stay valid for up to 15 minutes. If it has leaked, send `end_sessions=true`.',
      access: 'service_accounts:write',
      needsFreshLogin: true,
      parameters: { ...parameters, secret: { description: 'The id of a secret.', example: 'sas_0q8Xc2VwQy41mTzNbR' } },
      query: z.strictObject({ end_sessions: flag('Whether to end all sessions of the service account.') }),
      reply: { status: 204, description: 'The secret was deleted.' },
      errors: [404, 412, 503],
    },
    ({ deps, actor, parameters: { id = '', secret = '' }, query: { end_sessions } }) =>
      deleteSecret(deps, actor, { id, secretId: secret }, { endsSessions: end_sessions === 'true' }),
  ),
];
