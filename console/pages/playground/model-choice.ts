import type { ReplyBody } from '../../client/routes.ts';

export type Model = ReplyBody<'GET /v1/models'>['data'][number];

// No name has it.
const OF_DEPLOYMENT = '~';

/** The text that names a model in the address of the playground. */
export const choiceOf = ({ name, organization }: Pick<Model, 'name' | 'organization'>): string =>
  organization === null ? name : `${OF_DEPLOYMENT}${name}`;

/** The address of the playground with a model. The organization of a deployment pays for it. */
export const playgroundPath = (model: Pick<Model, 'name' | 'organization'>): string =>
  `/playground?${new URLSearchParams({ model: choiceOf(model), ...(model.organization !== null && { organization: model.organization }) })}`;

/** The model that an address names: a plain name is that of a shared model, or else that of a deployment. */
export const modelChosen = (models: readonly Model[], choice: string): Model | undefined =>
  models.find((model) => choiceOf(model) === choice) ?? models.find(({ name }) => name === choice);

/** The model of an address that names none. A deployment is chosen only by intent, because a request can start it. */
export const defaultModel = (models: readonly Model[]): Model | undefined =>
  models.find(({ organization }) => organization === null) ?? models[0];

/** The models that chats can be sent to. */
export const usableModels = (models: readonly Model[]): Model[] =>
  models.filter(({ status, organization, task }) => (organization !== null || status === 'published') && task === 'generate');
