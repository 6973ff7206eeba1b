import { inferenceHostRoutes } from '../../../shared/hosts/inference-routes.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import type { Model, ModelTask } from '../../../shared/models/model.ts';

const ROUTES: Readonly<Record<ModelTask, string>> = {
  generate: `generates text. Send the request to ${inferenceHostRoutes.createChatCompletion.path}`,
  embed: `creates embeddings. Send the request to ${inferenceHostRoutes.createEmbeddings.path}`,
  rerank: `ranks documents. Send the request to ${inferenceHostRoutes.createRerank.path}`,
};

// The model can't do what the route does: 400 that names the model's own route.
class WrongTask extends ApiError {
  constructor({ name, task }: Pick<Model, 'name' | 'task'>) {
    super({
      status: 400,
      type: 'invalid_request_error',
      code: 'wrong_model_task',
      param: 'model',
      message: `The model '${name.slice(0, 100)}' ${ROUTES[task]}, or call a model that this path can use.`,
    });
  }
}

/** @throws 400 that names the model's own route, if the model has another task */
export const checkTask = (model: Pick<Model, 'name' | 'task'>, task: ModelTask = 'generate'): void => {
  if (model.task !== task) throw new WrongTask(model);
};
