import { createServer } from 'node:http';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import { type SageMakerEmulator, startSageMaker } from '../../../infra/local/sagemaker/server.ts';

/** The tokens that it reports. */
export const WORD_USAGE = { prompt_tokens: 7, completion_tokens: 4 };

/**
 * A container at the SageMaker endpoint `e` that answers every request with these words, and counts its invocations.
 */
export const startWordContainer = async (words: readonly string[]) => {
  let invocations = 0;
  const events = [
    ...words.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: WORD_USAGE },
  ].map((chunk) => JSON.stringify(chunk));
  const container = createServer((request, response) => {
    invocations++;
    request.resume();
    for (const event of [...events, '[DONE]']) response.write(`data: ${event}\n\n`);
    response.end();
  });
  const url = await listen(container, 0);
  const sagemaker: SageMakerEmulator = await startSageMaker(new Map([['e', { url, path: '/invocations' }]]));
  return {
    sagemakerUrl: sagemaker.url,
    invocations: () => invocations,
    close: async (): Promise<void> => {
      await sagemaker.close();
      await closeServer(container);
    },
  };
};
