import * as z from 'zod';
import { pageOf, pageQuery } from '../../../shared/http/page.ts';
import { createRoute } from '../access/route.ts';
import { deleteModel, updateModel } from './change-model.ts';
import { listModels, retrieveModel } from './find-model.ts';
import { ModelResource, RegisteredModel } from './model-resource.ts';
import { checkAgain, type ModelDependencies, registerModel } from './register-model.ts';
import { ModelRegistration, ModelToCheck, ModelUpdate } from './registration.ts';
import { RegistrationReport } from './registration-report.ts';

const route = createRoute<ModelDependencies>();

const tag = 'Models';
const models = '/v1/models';
const oneModel = '/v1/models/{model+}';
const parameters = {
  model: { description: 'The name of a model. Slashes in it may be sent as they are or percent-encoded.', example: 'qwen3-8b' },
} as const;
const model = { name: 'Model', schema: ModelResource };

const organization = z.string().min(1).max(64).optional();
const ChangeQuery = z.strictObject({ organization: organization.meta({ description: 'Whose deployment it is. Absent: it is shared.' }) });
const SeenQuery = z.strictObject({
  organization: organization.meta({
    description: 'Whose deployment it is. Absent: for an admin a shared model; else one of your own organization, or a shared one.',
  }),
});
const ModelsQuery = z.strictObject({
  ...pageQuery,
  organization: organization.meta({
    description: 'Whose deployments. Absent: for an admin the shared models; else your own organization’s, and the shared ones.',
  }),
});

export const modelRoutes = [
  route(
    {
      method: 'POST',
      path: models,
      operationId: 'registerModel',
      tag,
      summary: 'Register a model',
      description:
        'Each of its targets is looked up and asked for one token, which takes up to 25 s. With `organization` it is that organization’s own deployment.',
      access: 'admin',
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
        description: 'The model, with what was found out about its targets.',
        json: { name: 'RegisteredModel', schema: RegisteredModel },
      },
      errors: [400, 404, 409, 503],
    },
    ({ deps, actor, body }) => registerModel(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: models,
      operationId: 'listModels',
      tag,
      summary: 'List models',
      description: 'The published shared models and the deployments of your own organization. Admins see every one, with its targets.',
      access: 'member',
      query: ModelsQuery,
      reply: { status: 200, description: 'A page of them, by name.', json: { name: 'ModelList', schema: pageOf(ModelResource) } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listModels(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: oneModel,
      operationId: 'retrieveModel',
      tag,
      summary: 'Retrieve a model',
      access: 'member',
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
      tag,
      summary: 'Change, publish, unpublish or deprecate a model',
      description:
        'What is absent stays as it is. Requests notice within 30 s. New targets, another dialect or tokenizer are checked as at registration.',
      access: 'admin',
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
      tag,
      summary: 'Delete a model',
      description: 'One that is not published. The bill keeps its name.',
      access: 'admin',
      parameters,
      isVersioned: true,
      query: ChangeQuery,
      reply: { status: 204, description: 'The model is gone.' },
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
      tag,
      summary: 'Check the targets of a model again',
      description: 'As at registration; nothing is changed or billed.',
      access: 'admin',
      body: { name: 'ModelToCheck', schema: ModelToCheck, example: { model: 'qwen3-8b' } },
      reply: {
        status: 200,
        description: 'What was found out about its targets.',
        json: { name: 'RegistrationReport', schema: RegistrationReport },
      },
      errors: [400, 404, 503],
    },
    ({ deps, body }) => checkAgain(deps, body),
  ),
];
