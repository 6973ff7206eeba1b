import type { ModelTask } from '../../../shared/models/model.ts';
import { MODELS_PATH } from '../../../shared/models/models-path.ts';

/** The models that the examples of the inference hosts name, by task. */
export const EXAMPLE_MODELS = {
  generate: 'qwen3-8b',
  embed: 'bge-m3',
  rerank: 'bge-reranker-v2-m3',
} as const satisfies Record<ModelTask, string>;

const SETTINGS =
  "url: 'openapi.json', dom_id: '#reference', deepLinking: true, defaultModelsExpandDepth: 0, tryItOutEnabled: true, displayRequestDuration: true";

/** The script that starts the viewer of a host without models. */
export const START = `
SwaggerUIBundle({ ${SETTINGS} });
`;

/**
 * The same for a host with models: the examples of the document that it shows name the host's own first model with
 * their task, so that they can be executed as they are. If the models are not public, the examples stay as they are.
 */
export const START_WITH_MODELS = `
{
  const models = fetch('${MODELS_PATH.slice(1)}')
    .then((response) => (response.ok ? response.json() : { data: [] }))
    .then(({ data }) => data)
    .catch(() => []);
  let isLoaded = false;
  const responseInterceptor = async (response) => {
    if (isLoaded) return response;
    isLoaded = true;
    const list = await models;
    for (const [task, example] of ${JSON.stringify(Object.entries(EXAMPLE_MODELS))}) {
      const name = list.find((model) => (model.task ?? 'generate') === task)?.id;
      if (name !== undefined) response.text = response.text.replaceAll(JSON.stringify(example), () => JSON.stringify(name));
    }
    return response;
  };
  SwaggerUIBundle({ ${SETTINGS}, responseInterceptor });
}
`;
