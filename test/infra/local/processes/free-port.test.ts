import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import { freePort } from '../../../../infra/local/processes/free-port.ts';

// Linux gives out ports from 32,768 on, other systems from 49,152 on.
test('a free port is none that the operating system gives to others, and can be listened on', async () => {
  const port = await freePort();

  expect(port).toBeGreaterThanOrEqual(1024);
  expect(port).toBeLessThan(32_768);
  const server = createServer();
  expect(await listen(server, port)).toBe(`http://127.0.0.1:${port}`);
  await closeServer(server);
});

test('several free ports follow each other', async () => {
  const first = await freePort(4);

  for (const port of [first, first + 1, first + 2, first + 3]) {
    const server = createServer();
    await listen(server, port);
    await closeServer(server);
  }
});
