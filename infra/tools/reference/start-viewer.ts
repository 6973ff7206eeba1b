import { MODELS_PATH } from '../../../shared/models/models-path.ts';

/** The model that all examples of the inference hosts name. */
export const EXAMPLE_MODEL = 'qwen3-8b';

const SETTINGS =
  "url: 'openapi.json', dom_id: '#reference', deepLinking: true, defaultModelsExpandDepth: 0, tryItOutEnabled: true, displayRequestDuration: true";

/** The script that starts the viewer of a host without models. */
export const START = `
SwaggerUIBundle({ ${SETTINGS} });
`;

/**
 * The same for a host with models: the examples of the document that it shows name the first of the host's own
 * models, so that they can be executed as they are. If the models are not public, the examples stay as they are.
 */
export const START_WITH_MODELS = `
{
  const model = fetch('${MODELS_PATH.slice(1)}')
    .then((response) => (response.ok ? response.json() : { data: [] }))
    .then(({ data }) => data[0]?.id)
    .catch(() => undefined);
  let isLoaded = false;
  const responseInterceptor = async (response) => {
    if (isLoaded) return response;
    isLoaded = true;
    const name = await model;
    if (name !== undefined) response.text = response.text.replaceAll('"${EXAMPLE_MODEL}"', () => JSON.stringify(name));
    return response;
  };
  SwaggerUIBundle({ ${SETTINGS}, responseInterceptor });
}
`;
