import { Health } from '../../functions/catalog/model-health.ts';
import type { FieldDoc, Operation } from '../../shared/hosts/operation.ts';

const model: FieldDoc = {
  description: 'The served name of one of your deployments: one of GET /v1/models.',
  examples: ['qwen3-8b'],
};

const ofEndUser = <Tag extends string>(operation: Operation<Tag>): Operation<Tag> => ({
  ...operation,
  takesUserId: true,
  errors: [...operation.errors, 400],
});

/** An operation that asks a model, or is about what one has answered: here the model is a deployment. */
export const ofDeployment = <Tag extends string>(operation: Operation<Tag>): Operation<Tag> => {
  const { body } = operation;
  return ofEndUser({ ...operation, ...(body && { body: { ...body, fields: { ...body.fields, model } } }) });
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
export const ofKey = <Tag extends string>(operation: Operation<Tag>): Operation<Tag> => {
  const { reply, operationId, summary } = operation;
  const { reply: description = reply.description, ...own } = OWN[operationId] ?? { summary };
  return ofEndUser({ ...operation, ...own, access: 'api_key', reply: { ...reply, description } });
};

export const OwnHealth = Health.extend({
  models: Health.shape.models.meta({ description: 'Empty: a deployment is told of to its own organization alone.' }),
});
