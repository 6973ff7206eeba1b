import * as z from 'zod';
import { pageOf } from '../../../shared/http/page.ts';
import { createRoute } from '../access/route.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { createScimToken, deleteScimToken, listScimTokens, type ScimTokenDependencies } from './manage-tokens.ts';
import { CreatedScimToken, ScimToken } from './token.ts';

const route = createRoute<ScimTokenDependencies>('SCIM');
const tokens = '/v1/identity-providers/{id}/scim-tokens';
const id = { description: 'The id of an identity provider.', example: 'idp_0q8Xc2VwQy41mTzNbR' };
const token = { description: 'The id of a SCIM token.', example: 'scim_0q8Xc2VwQy41mTzNbR' };

const TokenQuery = z.strictObject({
  organization: OrganizationId.optional().meta({ description: 'Required for admins. Otherwise, your own organization.' }),
});

export const scimTokenRoutes = [
  route(
    {
      method: 'POST',
      path: tokens,
      operationId: 'createScimToken',
      summary: 'Create a SCIM token',
      description:
        'With this token, your identity provider creates, changes and deactivates users at `/scim/v2`. The response shows it once. An identity provider can have two, so that you can replace one without a gap.',
      access: 'identity_providers:write',
      needsFreshLogin: true,
      parameters: { id },
      query: TokenQuery,
      reply: { status: 201, description: 'The new token.', json: { name: 'CreatedScimToken', schema: CreatedScimToken } },
      errors: [404, 409, 503],
    },
    ({ deps, actor, parameters, query: { organization } }) => createScimToken(deps, actor, { id: parameters.id ?? '', organization }),
  ),
  route(
    {
      method: 'GET',
      path: tokens,
      operationId: 'listScimTokens',
      summary: 'List SCIM tokens',
      access: 'identity_providers:read',
      parameters: { id },
      query: TokenQuery,
      reply: { status: 200, description: 'The tokens, oldest first.', json: { name: 'ScimTokenList', schema: pageOf(ScimToken) } },
      errors: [404, 503],
    },
    ({ deps, actor, parameters, query: { organization } }) => listScimTokens(deps, actor, { id: parameters.id ?? '', organization }),
  ),
  route(
    {
      method: 'DELETE',
      path: `${tokens}/{token}`,
      operationId: 'deleteScimToken',
      summary: 'Delete a SCIM token',
      description: 'The token stops working at once. The users and groups stay.',
      access: 'identity_providers:write',
      needsFreshLogin: true,
      parameters: { id, token },
      query: TokenQuery,
      reply: { status: 204, description: 'The token was deleted.' },
      errors: [404, 412, 503],
    },
    ({ deps, actor, parameters, query: { organization } }) =>
      deleteScimToken(deps, actor, { id: parameters.id ?? '', token: parameters.token ?? '', organization }),
  ),
];
