import { createServer, type RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import type { ContainerTarget } from '../../../../infra/local/sagemaker/container-request.ts';
import { startSageMaker } from '../../../../infra/local/sagemaker/server.ts';

const CHUNK = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'length' }] };

// As a runtime streams it.
const oneToken: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n`);
};

/** The SageMaker emulator with one scripted container. Clients find it through environment variables. */
export const startFakeSageMaker = async () => {
  const requests: unknown[] = [];
  let answer = oneToken;
  const container = createServer(async (request, response) => {
    requests.push(await json(request));
    answer(request, response);
  });
  const url = await listen(container, 0);
  const endpoints = new Map<string, ContainerTarget>();
  const emulator = await startSageMaker(endpoints);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SAGEMAKER: emulator.url,
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: emulator.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });
  return {
    /** The requests to the container, in order. */
    requests,
    /** Removes all endpoints and requests; the container answers with one token again. */
    reset: (): void => {
      endpoints.clear();
      requests.length = 0;
      answer = oneToken;
    },
    deploy: (endpoint: string, facts: Partial<ContainerTarget> = {}): void => {
      endpoints.set(endpoint, { url, path: '/invocations', ...facts });
    },
    answers: (next: RequestListener): void => {
      answer = next;
    },
    answersError: (status: number, body: unknown): void => {
      answer = (_request, response) => response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
    },
    close: async (): Promise<void> => {
      await emulator.close();
      container.closeAllConnections();
      await closeServer(container);
    },
  };
};
