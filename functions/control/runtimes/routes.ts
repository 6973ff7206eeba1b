import { createRoute } from '../access/route.ts';
import { createRuntime, listRuntimes, type RuntimeDependencies, retrieveRuntime, updateRuntime } from './manage-runtimes.ts';
import { NewRuntime, RuntimeList, RuntimeResource, RuntimeUpdate } from './runtime.ts';

const route = createRoute<RuntimeDependencies>('Deployments');
const runtimes = '/v1/runtimes';
const oneRuntime = `${runtimes}/{id}`;
const parameters = { id: { description: 'The id of a runtime.', example: 'vllm-0.27.1' } } as const;
const runtime = { name: 'Runtime', schema: RuntimeResource };

export const runtimeRoutes = [
  route(
    {
      method: 'GET',
      path: runtimes,
      operationId: 'listRuntimes',
      summary: 'List the runtimes that deployments can use',
      access: 'deployments:read',
      reply: { status: 200, description: 'All runtimes, sorted by id.', json: { name: 'RuntimeList', schema: RuntimeList } },
      errors: [503],
    },
    ({ deps, actor }) => listRuntimes(deps, actor),
  ),
  route(
    {
      method: 'POST',
      path: runtimes,
      operationId: 'createRuntime',
      summary: 'Add a runtime to the catalogue',
      access: 'catalogue:write',
      body: {
        name: 'NewRuntime',
        schema: NewRuntime,
        example: { id: 'vllm-0.27.1-patched', image: '123456789012.dkr.ecr.us-east-1.amazonaws.com/vllm:0.27.1-patched' },
      },
      reply: { status: 201, description: 'The runtime.', json: runtime },
      errors: [400, 409, 503],
    },
    ({ deps, actor, body }) => createRuntime(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: oneRuntime,
      operationId: 'retrieveRuntime',
      summary: 'Retrieve a runtime',
      access: 'deployments:read',
      parameters,
      reply: { status: 200, description: 'The runtime.', json: runtime },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => retrieveRuntime(deps, actor, id),
  ),
  route(
    {
      method: 'PATCH',
      path: oneRuntime,
      operationId: 'updateRuntime',
      summary: 'Update or retire a runtime',
      description: 'Deployments that use the runtime keep what they have.',
      access: 'catalogue:write',
      parameters,
      isVersioned: true,
      body: { name: 'RuntimeUpdate', schema: RuntimeUpdate, example: { status: 'retired' } },
      reply: { status: 200, description: 'The runtime.', json: runtime },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => updateRuntime(deps, actor, id, body, expected),
  ),
];
