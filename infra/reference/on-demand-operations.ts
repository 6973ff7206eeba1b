import { Health } from '../../functions/catalog/model-health.ts';
import { healthOperation, keyOperation, modelOperations } from './catalog-operations.ts';
import { chatOperations } from './chat-operations.ts';
import type { FieldDoc } from './field-docs.ts';
import type { Operation } from './operation.ts';
import { responseOperations } from './response-operations.ts';
import { serviceOperations } from './service-operations.ts';

const model: FieldDoc = {
  description: 'The served name of one of your deployments: one of GET /v1/models.',
  examples: ['qwen3-8b'],
};

const ofEndUser = (operation: Operation): Operation => ({ ...operation, takesUserId: true, errors: [...operation.errors, 400] });

/** An operation that asks a model, or is about what one has answered: here the model is a deployment. */
const ofDeployment = (operation: Operation): Operation => {
  const { request } = operation;
  return ofEndUser({ ...operation, ...(request && { request: { ...request, fields: { ...request.fields, model } } }) });
};

/** What a catalog operation is about here. */
const OWN: Readonly<Record<string, { summary: string; description: string; reply: string }>> = {
  listModels: {
    summary: 'List your deployments',
    description: 'The deployments that the API key may use, by their served names, with their sizes and prices. Nobody else sees them.',
    reply: 'Every one of them.',
  },
  retrieveModel: { summary: 'Retrieve a deployment', description: 'One that the API key may use.', reply: 'The deployment.' },
};

/** An operation that is anybody's on the serverless host, and tells each key its own here. */
const ofKey = ({ isPublic: _, ...operation }: Operation): Operation => {
  const { success, operationId, summary } = operation;
  const { reply = success.description, ...own } = OWN[operationId] ?? { summary };
  return ofEndUser({ ...operation, ...own, success: { ...success, description: reply } });
};

const OwnHealth = Health.extend({
  models: Health.shape.models.meta({ description: 'Empty: a deployment is told of to its own organization alone.' }),
});

const health: Operation = {
  ...healthOperation,
  success: {
    ...healthOperation.success,
    json: { name: 'Health', schema: OwnHealth, examples: { health: { summary: 'All is well', value: { status: 'ok', models: {} } } } },
  },
};

/** Every operation of the on-demand host, in the order of the API reference: those of the serverless host that a deployment has too. */
export const onDemandOperations = (options: { structuredOutputs: boolean }): Operation[] => [
  ...[...chatOperations(options), ...responseOperations(options)].map(ofDeployment),
  ...modelOperations.map(ofKey),
  keyOperation('on_demand'),
  health,
  ...serviceOperations,
];
