/** The path of the list of models, on every host. */
export const MODELS_PATH = '/v1/models';
