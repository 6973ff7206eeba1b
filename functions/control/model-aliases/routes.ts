import * as z from 'zod';
import { pageOf, pageQuery } from '../../../shared/http/page.ts';
import { MAX_ALIASES } from '../../../shared/models/alias-store.ts';
import { createRoute } from '../access/route.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { ModelAliasResource, NewModelAlias } from './alias-resource.ts';
import { deleteModelAlias, listModelAliases, type ModelAliasDependencies, retrieveModelAlias, setModelAlias } from './manage-aliases.ts';

const route = createRoute<ModelAliasDependencies>('Models');
const aliases = '/v1/model-aliases';
const oneAlias = `${aliases}/{alias+}`;
const parameters = {
  alias: { description: 'An alias. Slashes can be sent as they are or percent-encoded.', example: 'claude-opus-5-5' },
} as const;

const organization = OrganizationId.optional();
const OwnerQuery = z.strictObject({
  organization: organization.meta({ description: 'The organization of the alias. Default: your own; for admins, an alias for all.' }),
});
const AliasesQuery = z.strictObject({
  ...pageQuery,
  organization: organization.meta({
    description: "The organization whose aliases to list. Default: those for all and your own organization's.",
  }),
});

export const modelAliasRoutes = [
  route(
    {
      method: 'PUT',
      path: oneAlias,
      operationId: 'setModelAlias',
      summary: 'Set an alias of a model',
      description: `Requests that name the alias get the model, within 30 s. The name of a model always wins over an alias, and an alias never leads to another alias. Admins set aliases for all on the serverless host, and can name an organization; there can be ${MAX_ALIASES} for each. \`fallbacks\` and \`split\` replace the alias's earlier ones. With \`If-Match: "0"\`, an alias is only created, and never replaced.`,
      access: 'aliases:write',
      parameters,
      isVersioned: true,
      body: { name: 'NewModelAlias', schema: NewModelAlias, example: { model: 'qwen3-8b' } },
      reply: { status: 200, description: 'The alias.', json: { name: 'ModelAlias', schema: ModelAliasResource } },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { alias = '' }, body, expected }) => setModelAlias(deps, actor, alias, body, expected),
  ),
  route(
    {
      method: 'GET',
      path: aliases,
      operationId: 'listModelAliases',
      summary: 'List the aliases of models',
      description: "Lists your organization's aliases and those for all. If both have the same alias, the organization's wins.",
      access: 'models:read',
      query: AliasesQuery,
      reply: {
        status: 200,
        description: 'A page of aliases, sorted by alias.',
        json: { name: 'ModelAliasList', schema: pageOf(ModelAliasResource) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listModelAliases(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: oneAlias,
      operationId: 'retrieveModelAlias',
      summary: 'Retrieve an alias of a model',
      description: "Without `organization`, your organization's alias comes before one for all.",
      access: 'models:read',
      parameters,
      query: OwnerQuery,
      reply: { status: 200, description: 'The alias.', json: { name: 'ModelAlias', schema: ModelAliasResource } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: { alias = '' }, query }) => retrieveModelAlias(deps, actor, alias, query.organization),
  ),
  route(
    {
      method: 'DELETE',
      path: oneAlias,
      operationId: 'deleteModelAlias',
      summary: 'Delete an alias of a model',
      description: 'Requests that name it return 404, within 30 s.',
      access: 'aliases:write',
      parameters,
      query: OwnerQuery,
      isVersioned: true,
      reply: { status: 204, description: 'The alias was deleted.' },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, parameters: { alias = '' }, query, expected }) => deleteModelAlias(deps, actor, alias, query.organization, expected),
  ),
];
