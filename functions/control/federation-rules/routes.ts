import { pageOf } from '../../../shared/http/page.ts';
import { createRoute } from '../access/route.ts';
import {
  createRule,
  deleteRule,
  type FederationRuleDependencies,
  listRules,
  listSignInEvents,
  retrieveRule,
  updateRule,
} from './manage-rules.ts';
import {
  DeletedFederationRule,
  FederationRuleResource,
  FederationRuleUpdate,
  NewFederationRule,
  SignInEventResource,
} from './rule-resource.ts';

const route = createRoute<FederationRuleDependencies>('Service accounts');
const account = '/v1/service-accounts/{id}';
const rules = `${account}/federation-rules`;
const oneRule = `${rules}/{rule}`;
const parameters = { id: { description: 'The id of a service account.', example: 'user_VbdBUPc4RtYvB8fK2m' } } as const;
const ofRule = { ...parameters, rule: { description: 'The id of a federation rule.', example: 'fed_VbdBUPc4RtYvB8fK2m' } } as const;
const rule = { name: 'FederationRule', schema: FederationRuleResource };

const placeOf = ({ id = '', rule: ruleId = '' }: Record<string, string>) => ({ account: id, rule: ruleId });

export const federationRuleRoutes = [
  route(
    {
      method: 'POST',
      path: rules,
      operationId: 'createFederationRule',
      summary: 'Create a federation rule',
      description:
        'Workloads of an issuer, such as jobs of GitHub Actions, then exchange their tokens for an access token of this service account, without a secret, or for an API key that expires by itself. A rule for GitHub, GitLab, Google, Microsoft Entra or AWS must name one repository, project, identity or role. A service account can have 20 rules, and the rules of an organization 20 issuers.',
      access: 'service_accounts:write',
      isForPeople: true,
      needsFreshLogin: true,
      parameters,
      body: {
        name: 'NewFederationRule',
        schema: NewFederationRule,
        example: {
          issuer: 'https://token.actions.githubusercontent.com',
          audience: 'https://control.example.com',
          claims: { repository_id: '123456789', ref: 'refs/heads/main' },
        },
      },
      reply: { status: 201, description: 'The rule.', json: rule },
      errors: [400, 404, 409, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body }) => createRule(deps, actor, id, body),
  ),
  route(
    {
      method: 'GET',
      path: rules,
      operationId: 'listFederationRules',
      summary: 'List the federation rules of a service account',
      access: 'service_accounts:read',
      parameters,
      reply: {
        status: 200,
        description: 'All rules of the service account, oldest first.',
        json: { name: 'FederationRuleList', schema: pageOf(FederationRuleResource) },
      },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => listRules(deps, actor, id),
  ),
  route(
    {
      method: 'GET',
      path: oneRule,
      operationId: 'retrieveFederationRule',
      summary: 'Retrieve a federation rule',
      access: 'service_accounts:read',
      parameters: ofRule,
      reply: { status: 200, description: 'The rule.', json: rule },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: path }) => retrieveRule(deps, actor, path.id ?? '', path.rule ?? ''),
  ),
  route(
    {
      method: 'PATCH',
      path: oneRule,
      operationId: 'updateFederationRule',
      summary: 'Update a federation rule',
      description:
        'Fields that you omit keep their values. Access tokens that the rule has issued stay valid for up to 15 minutes; disable the service account to end them at once. If the rule is disabled, or `api_key` is null, its live API keys are revoked.',
      access: 'service_accounts:write',
      isForPeople: true,
      needsFreshLogin: true,
      parameters: ofRule,
      isVersioned: true,
      body: { name: 'FederationRuleUpdate', schema: FederationRuleUpdate, example: { status: 'disabled' } },
      reply: { status: 200, description: 'The rule.', json: rule },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, parameters: path, body, expected }) => updateRule(deps, actor, placeOf(path), body, expected),
  ),
  route(
    {
      method: 'DELETE',
      path: oneRule,
      operationId: 'deleteFederationRule',
      summary: 'Delete a federation rule',
      description: 'Access tokens that the rule has issued stay valid for up to 15 minutes. Its live API keys are revoked.',
      access: 'service_accounts:write',
      isForPeople: true,
      needsFreshLogin: true,
      parameters: ofRule,
      isVersioned: true,
      reply: {
        status: 200,
        description: 'The rule was deleted.',
        json: { name: 'DeletedFederationRule', schema: DeletedFederationRule },
      },
      errors: [404, 409, 412, 503],
    },
    ({ deps, actor, parameters: path, expected }) => deleteRule(deps, actor, placeOf(path), expected),
  ),
  route(
    {
      method: 'GET',
      path: `${account}/events`,
      operationId: 'listServiceAccountEvents',
      summary: 'List the token exchanges of a service account',
      description:
        'Why tokens were refused, and which were accepted. The response to a refused exchange does not say why. Only the newest are kept: at most 80 of tokens whose signature was verified, and 20 of others. If many tokens are refused at once, some of them are left out.',
      access: 'service_accounts:read',
      parameters,
      reply: {
        status: 200,
        description: 'The newest exchanges, newest first.',
        json: { name: 'SignInEventList', schema: pageOf(SignInEventResource) },
      },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => listSignInEvents(deps, actor, id),
  ),
];
