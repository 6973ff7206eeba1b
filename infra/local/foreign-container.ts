import * as z from 'zod';

const ANSWER_MS = 5_000;

const ModelList = z.object({ data: z.array(z.object({ id: z.string() })).min(1) });

/**
 * What an OpenAI-compatible server calls the model that it serves; of several, the first.
 * @param containerUrl any URL of the server; its models are at /v1/models
 * @throws Error with one sentence when there is no such server or it serves no model
 */
export const foreignModelName = async (containerUrl: string): Promise<string> => {
  const url = new URL('/v1/models', containerUrl);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
    const [model] = ModelList.parse(await response.json()).data;
    return (model as { id: string }).id;
  } catch (error) {
    throw new Error(`--container: ${url} does not list a model as an OpenAI-compatible server does`, { cause: error });
  }
};
