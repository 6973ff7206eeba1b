import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import { reservePorts } from '../../../../infra/local/processes/reserve-ports.ts';

// Linux gives out ports from 32,768 on, other systems from 49,152 on.
test('a free port is none that the operating system gives to others, and can be listened on', async () => {
  using reserved = await reservePorts();
  const { port } = reserved;

  expect(port).toBeGreaterThanOrEqual(1024);
  expect(port).toBeLessThan(32_768);
  const server = createServer();
  expect(await listen(server, port)).toBe(`http://127.0.0.1:${port}`);
  await closeServer(server);
});

test('several free ports follow each other', async () => {
  using reserved = await reservePorts(4);
  const { port: first } = reserved;

  for (const port of [first, first + 1, first + 2, first + 3]) {
    const server = createServer();
    await listen(server, port);
    await closeServer(server);
  }
});

test('ports are reserved until they are released, by the UDP ports of the same numbers', async () => {
  const canReserve = async (port: number): Promise<boolean> => {
    const socket = createSocket('udp4');
    socket.bind(port, '127.0.0.1');
    const isBound = await once(socket, 'listening').then(
      () => true,
      () => false,
    );
    socket.close();
    return isBound;
  };
  const { port, [Symbol.dispose]: release } = await reservePorts(2);

  expect([await canReserve(port), await canReserve(port + 1)]).toEqual([false, false]);
  release();
  expect([await canReserve(port), await canReserve(port + 1)]).toEqual([true, true]);
});
