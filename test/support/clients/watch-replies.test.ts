import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import * as z from 'zod';
import type { ControlOperation } from '../../../functions/control/access/route.ts';
import { controlDocument } from '../../../infra/tools/reference/control-document.ts';
import { watchReplies } from './watch-replies.ts';

const Gate = z.object({ name: z.string() });
const facts = { tag: 'Models', summary: 'A gate', access: 'models:read', errors: [] } as const;
const gate = { status: 200, description: 'The gate.', json: { name: 'Gate', schema: Gate } } as const;
const parameters = { name: { description: 'Its name.', example: 'north' } };
const operations: ControlOperation[] = [
  { ...facts, method: 'GET', path: '/v1/gates/{name}', operationId: 'retrieveGate', parameters, reply: gate },
  { ...facts, method: 'GET', path: '/v1/gates/main', operationId: 'retrieveMainGate', reply: { status: 202, description: 'Soon.' } },
  { ...facts, method: 'DELETE', path: '/v1/gates/{name}', operationId: 'deleteGate', parameters, reply: { status: 204, description: '.' } },
];
const document = JSON.stringify(controlDocument(operations));

// The host returns the replies set by the test, behind a path prefix.
const serve = async (): Promise<{ server: Server; base_url: string; next: { status: number; body: string } }> => {
  const next = { status: 200, body: '' };
  const server = createServer((request, response) => {
    const isDocument = request.url === '/stage/openapi.json';
    response.writeHead(isDocument ? 200 : next.status, { 'content-type': 'application/json' });
    response.end(isDocument ? document : next.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/stage`, next };
};

let one: Awaited<ReturnType<typeof serve>>;
let other: Awaited<ReturnType<typeof serve>>;
beforeEach(async () => {
  [one, other] = [await serve(), await serve()];
});
afterEach(() => {
  for (const { server } of [one, other]) server.close();
});

const ask = async (host: typeof one, method: string, path: string, status: number, body: string): Promise<void> => {
  Object.assign(host.next, { status, body });
  const response = await fetch(host.base_url + path, { method });
  await response.text();
};

test('reports no faults for replies that fit the document of their host', async () => {
  const { faults } = watchReplies(one.base_url, other.base_url);
  for (const host of [one, other]) {
    await ask(host, 'GET', '/v1/gates/north', 200, '{"name":"north"}');
    await ask(host, 'GET', '/v1/gates/main', 202, '');
    await ask(host, 'DELETE', '/v1/gates/north', 204, '');
    await ask(host, 'GET', '/v1/elsewhere', 404, '{}');
  }
  expect(await faults()).toEqual([]);
});

test.each<[string, string, string, number, string]>([
  ['an undocumented property', 'GET', '/v1/gates/north', 200, '{"name":"north","width":3}'],
  ['a missing property', 'GET', '/v1/gates/north', 200, '{}'],
  ['an undocumented status', 'GET', '/v1/gates/north', 409, '{}'],
  ['an undocumented status without a body', 'DELETE', '/v1/gates/north', 202, ''],
  ['a missing body', 'GET', '/v1/gates/north', 200, ''],
  ['an undocumented body', 'GET', '/v1/gates/main', 202, '{}'],
])('reports %s', async (_, method, path, status, body) => {
  const { faults } = watchReplies(one.base_url, other.base_url);
  await ask(other, method, path, status, body);
  expect(await faults()).toEqual([expect.objectContaining({ method: method.toLowerCase(), path, status })]);
});
