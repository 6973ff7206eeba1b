import { Health } from '../../../functions/catalog/model-health.ts';
import type { FieldDoc, Operation } from '../../../shared/hosts/operation.ts';
import { MODELS_PATH } from '../../../shared/models/models-path.ts';

const model: FieldDoc = {
  description: `The served name of one of your deployments, as listed by \`GET ${MODELS_PATH}\`.`,
  examples: ['qwen3-8b'],
};

const ofEndUser = <Tag extends string>(operation: Operation<Tag>): Operation<Tag> => ({
  ...operation,
  takesUserId: true,
  errors: [...operation.errors, 400],
});

// On this host, the model is a deployment.
const ofDeployment = <Tag extends string>(operation: Operation<Tag>): Operation<Tag> => {
  const { body } = operation;
  return ofEndUser({ ...operation, ...(body && { body: { ...body, fields: { ...body.fields, model } } }) });
};

// Texts of catalog operations that differ on this host.
const OWN: Readonly<Record<string, { summary: string; description: string; reply: string }>> = {
  listModels: {
    summary: 'List your deployments',
    description: 'Lists the deployments that the API key can use, by served name, with sizes and prices. Others cannot see them.',
    reply: 'All deployments that the API key can use.',
  },
  retrieveModel: { summary: 'Retrieve a deployment', description: 'The API key must be allowed to use it.', reply: 'The deployment.' },
};

// Operations that are public on the serverless host need an API key here, and return what that key can use.
const ofKey = <Tag extends string>(operation: Operation<Tag>): Operation<Tag> => {
  const { reply, operationId, summary } = operation;
  const { reply: description = reply.description, ...own } = OWN[operationId] ?? { summary };
  return ofEndUser({ ...operation, ...own, access: 'api_key', reply: { ...reply, description } });
};

/** An operation of the inference hosts as it is on this host. */
export const onDemandOperation = <Tag extends string>(operation: Operation<Tag>): Operation<Tag> => {
  if (operation.tag === 'Models') return ofKey(operation);
  return operation.tag === 'Key' ? operation : ofDeployment(operation);
};

export const OwnHealth = Health.extend({
  models: Health.shape.models.meta({ description: 'Empty: deployments are visible only to their own organization.' }),
});
