import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';

const FIVE_MINUTES_S = 300;

test('keeps idle connections for over five minutes, so that no request meets one that is being closed', async () => {
  const server = createServer((_, response) => void response.end());
  const { headers } = await fetch(await listen(server, 0));
  await closeServer(server);
  expect(Number(/^timeout=(\d+)$/.exec(headers.get('keep-alive') ?? '')?.[1])).toBeGreaterThan(FIVE_MINUTES_S);
});
