import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EMBEDDING_MODEL, RERANK_MODEL } from '../../infra/local/container.ts';
import { MESSAGES_PATH } from '../../shared/http/messages-path.ts';
import { shareTestRun, type TestRun } from '../support/clients/local-run.ts';

// Containers repeat the words of a caller in their errors.
const MARKER = 'pelican-barometer-1847';

// On AWS, the logs of the container and the emulators are not ours.
const FOREIGN = /^(?:container|dynamodb|mail)/;

let run: TestRun;
let secret: string;
beforeAll(async () => {
  run = await shareTestRun();
  ({ secret } = await run.createKey());
});
afterAll(async () => {
  await run.close();
});

const post = async (route: string, body: object): Promise<string> => {
  const response = await fetch(`${run.base_url}${route}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: run.model, user: MARKER, metadata: { [MARKER]: MARKER, user_id: MARKER }, ...body }),
  });
  return `${response.status} ${await response.text()}`;
};

const messages = [{ role: 'user', content: `Say ${MARKER}.` }];
const tools = [{ type: 'function', function: { name: MARKER, description: MARKER, parameters: { type: 'object' } } }];
const requests: [route: string, body: object][] = [
  ['/v1/chat/completions', { messages, tools, max_tokens: 4 }],
  ['/v1/chat/completions', { messages, max_tokens: 4, stream: true }],
  ['/v1/completions', { prompt: MARKER, max_tokens: 4 }],
  ['/v1/embeddings', { model: EMBEDDING_MODEL, input: MARKER }],
  ['/v1/rerank', { model: RERANK_MODEL, query: MARKER, documents: [MARKER] }],
  ['/v1/responses', { input: MARKER, max_output_tokens: 16, stream: true }],
  [MESSAGES_PATH, { messages, system: MARKER, tools: [{ name: MARKER, input_schema: { type: 'object' } }], max_tokens: 4 }],
  [MESSAGES_PATH, { messages, max_tokens: 4, stream: true }],
];

const quoted = { error: { message: `cannot process '${MARKER}'`, type: MARKER, code: MARKER } };
const schemaError = { detail: [{ type: 'extra_forbidden', loc: ['body', MARKER], msg: MARKER, input: MARKER }] };

// Replies of a container with the caller's words in them.
const answers: [string, object][] = [
  ['a 500', { kind: 'error', status: 500, body: quoted }],
  ['a 500 that is not JSON', { kind: 'error', status: 500, body: `Traceback: ${MARKER}` }],
  ['a 400', { kind: 'error', status: 400, body: quoted }],
  ['a schema error', { kind: 'error', status: 422, body: schemaError }],
  ['a 429', { kind: 'error', status: 429, body: quoted }],
  ['an unknown status', { kind: 'error', status: 418, body: MARKER }],
  ['an error event', { kind: 'error_event', body: quoted }],
  ['an error event after some tokens', { kind: 'error_event', after_tokens: 2, body: quoted }],
  ['an event that is a text', { kind: 'error_event', body: MARKER }],
];

const lines = async (): Promise<string[]> => {
  const logs = path.join(run.state, 'logs');
  const files = (await readdir(logs)).filter((file) => !FOREIGN.test(file));
  const texts = await Promise.all(files.map((file) => readFile(path.join(logs, file), 'utf8')));
  return texts.flatMap((text) => text.split('\n'));
};

test.each(answers)('logs no words of a caller that a container repeats in %s', async (_, fault) => {
  await run.control('container', { fault });
  const before = new Set(await lines());
  const replies = await Promise.all(requests.map(([route, body]) => post(route, body)));
  expect(replies.every((reply) => !reply.startsWith('200') || /error|failed|\[DONE\]|message_stop/.test(reply))).toBe(true);
  const logged = (await lines()).filter((line) => !before.has(line));
  expect(logged.length).toBeGreaterThanOrEqual(requests.length);
  expect(logged.filter((line) => line.includes(MARKER))).toEqual([]);
});
