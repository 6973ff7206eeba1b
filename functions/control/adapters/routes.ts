import { createRoute } from '../access/route.ts';
import type { CreateDependencies } from '../deployments/create-deployment.ts';
import { AdapterList, AdapterResource, NewAdapter } from './adapter-resource.ts';
import { addAdapter, deleteAdapter, listAdapters, retrieveAdapter } from './manage-adapters.ts';

const route = createRoute<CreateDependencies>('Deployments');
const adapters = '/v1/deployments/{id}/adapters';
const oneAdapter = `${adapters}/{adapter}`;
const ofDeployment = { id: { description: 'The id of a deployment.', example: 'dep_VbdBUPc4RtYvB8fK2m' } } as const;
const ofAdapter = { ...ofDeployment, adapter: { description: 'The id of an adapter.', example: 'lora_VbdBUPc4RtYvB8fK2m' } } as const;
const adapter = { name: 'Adapter', schema: AdapterResource };

export const adapterRoutes = [
  route(
    {
      method: 'POST',
      path: adapters,
      operationId: 'createAdapter',
      summary: 'Add a LoRA adapter to a deployment',
      description:
        "Serves the adapter under its own name from the deployment's GPUs. The deployment must have `adapters`. The reply comes at once; the files are then checked and copied, and the copy is loaded. Repeating the request returns the same adapter.",
      access: 'deployments:write',
      parameters: ofDeployment,
      body: {
        name: 'NewAdapter',
        schema: NewAdapter,
        example: { name: 'legal', source: 's3://sluice-weights/org_VbdBUPc4RtYvB8fK2m/legal-adapter/' },
      },
      reply: { status: 201, description: 'The adapter. Its `state` shows the progress.', json: adapter },
      errors: [400, 404, 409, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body }) => addAdapter(deps, actor, id, body),
  ),
  route(
    {
      method: 'GET',
      path: adapters,
      operationId: 'listAdapters',
      summary: 'List the adapters of a deployment',
      access: 'deployments:read',
      parameters: ofDeployment,
      reply: { status: 200, description: 'All of its adapters, oldest first.', json: { name: 'AdapterList', schema: AdapterList } },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => listAdapters(deps, actor, id),
  ),
  route(
    {
      method: 'GET',
      path: oneAdapter,
      operationId: 'retrieveAdapter',
      summary: 'Retrieve an adapter',
      access: 'deployments:read',
      parameters: ofAdapter,
      reply: { status: 200, description: 'The adapter.', json: adapter },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '', adapter: adapterId = '' } }) => retrieveAdapter(deps, actor, { id, adapter: adapterId }),
  ),
  route(
    {
      method: 'DELETE',
      path: oneAdapter,
      operationId: 'deleteAdapter',
      summary: 'Delete an adapter',
      description:
        'It gets no new requests within 30 s, and those that run can fail. Its name is free, and it is no longer listed, once nothing of it is left on AWS.',
      access: 'deployments:write',
      isOpenToSuspended: true,
      parameters: ofAdapter,
      reply: { status: 202, description: 'The adapter.', json: adapter },
      errors: [404, 409, 503],
    },
    ({ deps, actor, parameters: { id = '', adapter: adapterId = '' } }) => deleteAdapter(deps, actor, { id, adapter: adapterId }),
  ),
];
