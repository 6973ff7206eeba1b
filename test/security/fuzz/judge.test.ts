import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { controlDocument } from '../../../infra/tools/reference/control-document.ts';
import { controlOperations } from '../../../infra/tools/reference/control-operations.ts';
import { CANARY } from './fixtures.ts';
import { createJudge } from './judge.ts';
import type { FuzzedReply } from './send.ts';

let server: Server;
let judge: Awaited<ReturnType<typeof createJudge>>;
beforeAll(async () => {
  const document = JSON.stringify(controlDocument(controlOperations));
  server = createServer((_, response) => response.end(document));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  judge = await createJudge({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, new Set(['admin']));
});
afterAll(() => void server.close());

const error = (message: string, more = {}) =>
  JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: 'not_found', ...more }, request_id: 'req_1' });

const judged = (reply: Partial<FuzzedReply>, { caller = 'member', path = '/v1/organizations/org_1' } = {}): Promise<string[]> =>
  judge(
    { operation: '', caller, method: 'GET', path, headers: {} },
    {
      status: 404,
      headers: { 'x-request-id': 'req_1', 'content-type': 'application/json' },
      text: error('No such organization.'),
      ...reply,
    },
  );

test('accepts a documented error', async () => {
  expect(await judged({})).toEqual([]);
});

test.each([
  ['a 500', { status: 500 }, /status 500/],
  ['no request id', { headers: { 'content-type': 'application/json' } }, /x-request-id/],
  ["another organization's data", { text: error(CANARY) }, /another organization/],
  ['a stack trace', { text: error('Error\n    at createUser (index.mjs)') }, /internals/],
  ['an ARN', { text: error('No arn:aws:dynamodb:us-east-1:1:table/x.') }, /internals/],
  ['the name of a table', { text: error('No sluice-data-Keys.') }, /internals/],
  ['an error of the SDK', { text: error('ConditionalCheckFailedException') }, /internals/],
  ['an error as plain text', { headers: { 'x-request-id': 'r', 'content-type': 'text/plain' }, text: error('') }, /not an error/],
  ['an undocumented property', { text: error('', { table: 'x' }) }, /table/],
  ['an undocumented status', { status: 418 }, /no such reply/],
])('finds %s', async (_, reply, expected) => {
  expect((await judged(reply)).join('\n')).toMatch(expected);
});

test('finds a body that is no error under a path that is not documented', async () => {
  expect(await judged({ text: '{}' }, { path: '/none' })).toEqual(['not an error: application/json']);
});

test('accepts a reply about an organization to those who may see it', async () => {
  expect(await judged({ text: error(CANARY) }, { caller: 'admin' })).toEqual([]);
});
