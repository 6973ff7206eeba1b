import type { Operations } from '../../http/json-api.ts';
import { createComponent, deleteComponent, describeComponent, listComponents, updateComponent, updateRuntimeConfig } from './components.ts';
import { createEndpointConfig, deleteEndpointConfig, describeEndpointConfig, listEndpointConfigs } from './endpoint-configs.ts';
import { createEndpoint, deleteEndpoint, describeEndpoint, listEndpoints, updateEndpoint } from './endpoints.ts';
import { createModel, deleteModel, describeModel, listModels } from './models.ts';
import type { AccountState } from './state.ts';
import { addTags, listTags } from './tags.ts';

const OPERATIONS = {
  CreateModel: createModel,
  DescribeModel: describeModel,
  ListModels: listModels,
  DeleteModel: deleteModel,
  CreateEndpointConfig: createEndpointConfig,
  DescribeEndpointConfig: describeEndpointConfig,
  ListEndpointConfigs: listEndpointConfigs,
  DeleteEndpointConfig: deleteEndpointConfig,
  CreateEndpoint: createEndpoint,
  DescribeEndpoint: describeEndpoint,
  ListEndpoints: listEndpoints,
  UpdateEndpoint: updateEndpoint,
  DeleteEndpoint: deleteEndpoint,
  CreateInferenceComponent: createComponent,
  DescribeInferenceComponent: describeComponent,
  ListInferenceComponents: listComponents,
  UpdateInferenceComponent: updateComponent,
  UpdateInferenceComponentRuntimeConfig: updateRuntimeConfig,
  DeleteInferenceComponent: deleteComponent,
  AddTags: addTags,
  ListTags: listTags,
} as const;

/** SageMaker's control API for models, endpoint configurations, endpoints and inference components. */
export const sageMakerOperations = (state: AccountState): Operations =>
  new Map(Object.entries(OPERATIONS).map(([name, perform]) => [`SageMaker.${name}`, (input: unknown) => perform(state, input)]));
