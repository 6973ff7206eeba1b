import * as z from 'zod';
import { pageOf, pageQuery } from '../../../shared/http/page.ts';
import { MODELS_PATH } from '../../../shared/models/models-path.ts';
import { createRoute } from '../access/route.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { deleteModel, updateModel } from './change-model.ts';
import { listModels, type ModelDetailReads, retrieveModel } from './find-model.ts';
import { ModelResource, RegisteredModel } from './model-resource.ts';
import { checkAgain, type ModelDependencies, registerModel } from './register-model.ts';
import { ModelRegistration, ModelToCheck, ModelUpdate } from './registration.ts';
import { RegistrationReport } from './registration-report.ts';

const route = createRoute<ModelDependencies & ModelDetailReads>('Models');
const oneModel = `${MODELS_PATH}/{model+}`;
const parameters = {
  model: { description: 'The name of a model. Slashes can be sent as they are or percent-encoded.', example: 'qwen3-8b' },
} as const;
const model = { name: 'Model', schema: ModelResource };

const organization = OrganizationId.optional();
const ChangeQuery = z.strictObject({
  organization: organization.meta({ description: 'The organization whose deployment this is. Default: a shared model.' }),
});
const SeenQuery = z.strictObject({
  organization: organization.meta({
    description: "The organization whose deployment this is. Default: your own organization's deployment, or a shared model.",
  }),
});
const ModelsQuery = z.strictObject({
  ...pageQuery,
  organization: organization.meta({
    description: "The organization whose deployments to list. Default: the shared models and your own organization's deployments.",
  }),
});

export const modelRoutes = [
  route(
    {
      method: 'POST',
      path: MODELS_PATH,
      operationId: 'registerModel',
      summary: 'Register a model',
      description:
        "Looks up each target and requests one token from it, in at most 25 s. With `organization`, the model is that organization's deployment.",
      access: 'models:write',
      needsFreshLogin: true,
      limits: ['aws_calls'],
      body: {
        name: 'NewModel',
        schema: ModelRegistration,
        example: {
          name: 'qwen3-8b',
          context_length: 32_768,
          max_output_tokens: 8_192,
          default_output_tokens: 1_024,
          targets: [{ endpoint: 'qwen3-8b', component: 'qwen3-8b-a' }],
          prices: [{ per_million: { prompt: '0.05', completion: '0.2' } }],
        },
      },
      reply: {
        status: 201,
        description: 'The model with the report of its checks.',
        json: { name: 'RegisteredModel', schema: RegisteredModel },
      },
      errors: [400, 404, 409, 503],
    },
    ({ deps, actor, body }) => registerModel(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: MODELS_PATH,
      operationId: 'listModels',
      summary: 'List models',
      description: "Lists the published shared models and your organization's deployments. Admins see all models with their targets.",
      access: 'models:read',
      query: ModelsQuery,
      reply: { status: 200, description: 'A page of models, sorted by name.', json: { name: 'ModelList', schema: pageOf(ModelResource) } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listModels(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: oneModel,
      operationId: 'retrieveModel',
      summary: 'Retrieve a model',
      access: 'models:read',
      parameters,
      query: SeenQuery,
      reply: { status: 200, description: 'The model.', json: model },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: { model: name = '' }, query }) => retrieveModel(deps, actor, name, query.organization),
  ),
  route(
    {
      method: 'PATCH',
      path: oneModel,
      operationId: 'updateModel',
      summary: 'Update, publish, unpublish or deprecate a model',
      description:
        'Fields that you omit keep their values. The change takes effect within 30 s. A new dialect, tokenizer or targets are checked.',
      access: 'models:write',
      limits: ['aws_calls'],
      parameters,
      isVersioned: true,
      query: ChangeQuery,
      body: {
        name: 'ModelUpdate',
        schema: ModelUpdate,
        example: { deprecation: { deprecated_at: 1_795_219_200, sunset_at: 1_805_673_600, successor: 'qwen3-8b' } },
      },
      reply: { status: 200, description: 'The model.', json: model },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { model: name = '' }, query, expected, body }) =>
      updateModel(deps, actor, { name, organization: query.organization, expected }, body),
  ),
  route(
    {
      method: 'DELETE',
      path: oneModel,
      operationId: 'deleteModel',
      summary: 'Delete a model',
      description: "Only unpublished models can be deleted. Usage keeps the model's name.",
      access: 'models:write',
      parameters,
      isVersioned: true,
      query: ChangeQuery,
      reply: { status: 204, description: 'The model was deleted.' },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { model: name = '' }, query, expected }) =>
      deleteModel(deps, actor, { name, organization: query.organization, expected }),
  ),
  route(
    {
      method: 'POST',
      path: '/v1/model-checks',
      operationId: 'checkModel',
      summary: 'Check the targets of a model',
      description: 'Repeats the checks of the registration. Nothing is changed or billed.',
      access: 'models:write',
      limits: ['aws_calls'],
      body: { name: 'ModelToCheck', schema: ModelToCheck, example: { model: 'qwen3-8b' } },
      reply: {
        status: 200,
        description: 'The report of the checks.',
        json: { name: 'RegistrationReport', schema: RegistrationReport },
      },
      errors: [400, 404, 503],
    },
    ({ deps, body }) => checkAgain(deps, body),
  ),
];
