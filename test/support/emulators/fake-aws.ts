import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** @param attempt the number of the request since the answer was set, from 1 */
export type Answer = (response: ServerResponse, attempt: number, request: Received) => void;

/** A fake service of AWS with the test's answers, which records its requests. */
export const startFakeAws = async () => {
  const received: Received[] = [];
  const sockets = new Set<unknown>();
  let answer: Answer = (response) => response.end('null');
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    sockets.add(request.socket);
    const { method = '', url: path = '', headers } = request;
    const read = { method, path, headers, body: (await buffer(request)).toString() };
    answer(response, received.push(read), read);
  };
  const server = createServer((request, response) => {
    // The caller broke off its request.
    serve(request, response).catch(() => response.destroy());
  });
  return {
    url: await listen(server, 0),
    received,
    sockets,
    answers: (next: Answer): void => {
      received.length = 0;
      sockets.clear();
      answer = next;
    },
    close: () => closeServer(server),
  };
};

export type FakeAws = Awaited<ReturnType<typeof startFakeAws>>;

/** Sends these bytes instead of a reply, in one write. */
export const sendRaw = (response: ServerResponse, bytes: string | Buffer): void => void response.socket?.write(bytes);
