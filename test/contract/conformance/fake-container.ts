import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { textFrom } from './run-program.ts';

/** Responds to a request whose body has been read. */
export type Answer = (response: ServerResponse, body: string, request: IncomingMessage) => void | Promise<void>;

/** Starts a server that responds with `answer`. */
export const startFakeContainer = async (answer: Answer): Promise<{ url: string; close: () => Promise<void> }> => {
  const server = createServer((request, response) => void textFrom(request).then((body) => answer(response, body, request)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

// Another word for each number below 26².
const nameOf = (number: number): string => `word${String.fromCharCode(97 + Math.floor(number / 26), 97 + (number % 26))}`;

/** Sends an answer of `words` words, whatever the request was. */
export const say = (response: ServerResponse, words: number, end: object = { finish_reason: 'stop' }): void => {
  const chunk = (choice: object, more: object = {}) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, ...choice }], ...more })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let word = 0; word < words; word++) chunk({ delta: { content: `${nameOf(word)} ` } });
  chunk(end, { usage: { prompt_tokens: 9, completion_tokens: words } });
  response.end('data: [DONE]\n\n');
};
