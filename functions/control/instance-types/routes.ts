import { createRoute } from '../access/route.ts';
import {
  InstanceTypeList,
  InstanceTypeResource,
  InstanceTypeUpdate,
  NewInstanceCost,
  NewInstancePrice,
  NewInstanceType,
} from './instance-type.ts';
import {
  addInstanceCost,
  addInstancePrice,
  createInstanceType,
  type InstanceTypeDependencies,
  listInstanceTypes,
  retrieveInstanceType,
  updateInstanceType,
} from './manage-instance-types.ts';

const route = createRoute<InstanceTypeDependencies>('Deployments');
const instanceTypes = '/v1/instance-types';
const oneInstanceType = `${instanceTypes}/{id}`;
const parameters = { id: { description: "SageMaker's name of an instance type.", example: 'ml.g5.xlarge' } } as const;
const instanceType = { name: 'InstanceType', schema: InstanceTypeResource };

export const instanceTypeRoutes = [
  route(
    {
      method: 'GET',
      path: instanceTypes,
      operationId: 'listInstanceTypes',
      summary: 'List the instance types that deployments can use',
      access: 'deployments:read',
      reply: {
        status: 200,
        description: 'All instance types with accelerators, memory and the current price, sorted by id.',
        json: { name: 'InstanceTypeList', schema: InstanceTypeList },
      },
      errors: [503],
    },
    ({ deps, actor }) => listInstanceTypes(deps, actor),
  ),
  route(
    {
      method: 'POST',
      path: instanceTypes,
      operationId: 'createInstanceType',
      summary: 'Add an instance type to the catalogue',
      description: 'Deployments can use it once it has a price.',
      access: 'catalogue:write',
      body: {
        name: 'NewInstanceType',
        schema: NewInstanceType,
        example: { id: 'ml.g7.2xlarge', accelerator: 'NVIDIA RTX PRO 6000', accelerators: 1, accelerator_memory_gib: 96, memory_gib: 64 },
      },
      reply: { status: 201, description: 'The instance type.', json: instanceType },
      errors: [400, 409, 503],
    },
    ({ deps, actor, body }) => createInstanceType(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: oneInstanceType,
      operationId: 'retrieveInstanceType',
      summary: 'Retrieve an instance type',
      access: 'deployments:read',
      parameters,
      reply: { status: 200, description: 'The instance type.', json: instanceType },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => retrieveInstanceType(deps, actor, id),
  ),
  route(
    {
      method: 'PATCH',
      path: oneInstanceType,
      operationId: 'updateInstanceType',
      summary: 'Retire an instance type',
      description: 'Deployments that use the type go on.',
      access: 'catalogue:write',
      parameters,
      isVersioned: true,
      body: { name: 'InstanceTypeUpdate', schema: InstanceTypeUpdate, example: { status: 'retired' } },
      reply: { status: 200, description: 'The instance type.', json: instanceType },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => updateInstanceType(deps, actor, id, body, expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneInstanceType}/prices`,
      operationId: 'addInstancePrice',
      summary: 'Add a price version to an instance type',
      description: 'Price versions cannot be changed; add a new one instead. GPU time is charged at the price of its second.',
      access: 'catalogue:write',
      needsFreshLogin: true,
      parameters,
      isVersioned: true,
      body: { name: 'NewInstancePrice', schema: NewInstancePrice, example: { per_hour: '1.41', effective_at: 1_798_761_600 } },
      reply: { status: 201, description: 'The instance type with all its price versions.', json: instanceType },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => addInstancePrice(deps, actor, id, body, expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneInstanceType}/costs`,
      operationId: 'addInstanceCost',
      summary: 'Add a cost version to an instance type',
      description:
        'States what an instance costs the platform, which can differ from its price. Nothing is charged by it: `GET /v1/economics` compares it with the revenue. Cost versions cannot be changed; add a new one instead.',
      access: 'catalogue:write',
      parameters,
      isVersioned: true,
      body: { name: 'NewInstanceCost', schema: NewInstanceCost, example: { per_hour: '1.01', effective_at: 1_793_491_200 } },
      reply: { status: 201, description: 'The instance type with all its cost versions.', json: instanceType },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => addInstanceCost(deps, actor, id, body, expected),
  ),
];
