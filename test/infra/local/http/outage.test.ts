import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import { withOutages } from '../../../../infra/local/http/outage.ts';

let server: Server;
let url: string;
beforeEach(async () => {
  server = createServer(withOutages((_, response) => response.end('served')));
  url = await listen(server, 0);
});
afterEach(() => closeServer(server));

const set = (outage: object) => fetch(`${url}/control`, { method: 'PUT', body: JSON.stringify(outage) });
const call = async (method = 'GET') => {
  const response = await fetch(`${url}/object`, { method });
  return [response.status, await response.text()];
};

test('serves calls until an outage is set, and again after it is reset', async () => {
  expect(await call()).toEqual([200, 'served']);
  await set({ kind: 'unavailable' });
  expect(await call()).toEqual([503, '']);
  await fetch(`${url}/control`, { method: 'DELETE' });
  expect(await call()).toEqual([200, 'served']);
});

test('breaks connections', async () => {
  await set({ kind: 'refuse' });
  await expect(call()).rejects.toThrow();
});

test('delays replies', async () => {
  await set({ delay_ms: 200 });
  const startMs = performance.now();
  expect(await call()).toEqual([200, 'served']);
  expect(performance.now() - startMs).toBeGreaterThan(190);
});

test('limits an outage to one method', async () => {
  await set({ kind: 'unavailable', method: 'PUT' });
  expect(await call('GET')).toEqual([200, 'served']);
  expect(await call('PUT')).toEqual([503, '']);
});

test('counts the calls that an outage has met', async () => {
  await set({ kind: 'unavailable', method: 'PUT' });
  await call('PUT');
  await call('GET');
  expect(await (await fetch(`${url}/control`)).json()).toEqual({ kind: 'unavailable', method: 'PUT', delay_ms: 0, calls: 1 });
});

test('rejects settings that it does not know', async () => {
  expect((await set({ kind: 'flood' })).status).toBe(400);
});
