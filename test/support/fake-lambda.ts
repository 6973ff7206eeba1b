import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closeServer, listen } from '../../infra/local/http/listen.ts';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

type Answer = (response: ServerResponse, attempt: number) => void;

/** A fake Lambda with the test's answers, which records its requests. Functions find it through the environment. */
export const startFakeLambda = async () => {
  const received: Received[] = [];
  const sockets = new Set<unknown>();
  let answer: Answer = (response) => response.end('null');
  const server = createServer(async (request, response) => {
    sockets.add(request.socket);
    const { method = '', url: path = '', headers } = request;
    received.push({ method, path, headers, body: (await buffer(request)).toString() });
    answer(response, received.length);
  });
  const url = await listen(server, 0);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_LAMBDA: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
  });
  return {
    received,
    sockets,
    answers: (next: Answer): void => {
      received.length = 0;
      answer = next;
    },
    close: () => closeServer(server),
  };
};
