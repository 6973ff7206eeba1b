import * as z from 'zod';
import { MODELS_PATH } from '../../shared/models/models-path.ts';

const RESPONSE_TIMEOUT_MS = 5_000;

const ModelList = z.object({ data: z.array(z.object({ id: z.string() })).min(1) });

/**
 * Returns the name of the model that an OpenAI-compatible server serves; if it lists several, the first.
 * @param containerUrl any URL of the server; the model list is read from MODELS_PATH
 * @throws Error if the server cannot be reached or lists no model
 */
export const foreignModelName = async (containerUrl: string): Promise<string> => {
  const url = new URL(MODELS_PATH, containerUrl);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) });
    const [model] = ModelList.parse(await response.json()).data;
    return (model as { id: string }).id;
  } catch (error) {
    throw new Error(`--container: ${url} does not list a model as an OpenAI-compatible server does`, { cause: error });
  }
};
