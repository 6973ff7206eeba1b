import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newSecret, type PresentedKey, parseSecret } from '../../../shared/admission/item/secret.ts';
import { createLimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { createSdkDatabase } from '../../../shared/database/sdk-database.ts';
import { attempt, makeCaller } from '../../support/fixtures/callers.ts';
import { newId } from '../../support/fixtures/new-id.ts';

let server: Server;
let answer: { status: number; body: string };
beforeEach(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const key = parseSecret(newSecret('serverless', newId('key')).secret) as PresentedKey;
const admitOver = (port: number) => {
  const database = createSdkDatabase({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  });
  return attempt(makeCaller(createLimiterStore(database, 'keys'), Date.now), key);
};
const port = (): number => (server.address() as AddressInfo).port;

describe('an outage of DynamoDB', () => {
  test.each([
    ['throttles', 400, 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException'],
    ['fails', 500, 'com.amazonaws.dynamodb.v20120810#InternalServerError'],
    ['fails with a name that nobody knows', 500, 'com.amazonaws.dynamodb.v20120810#DiskOnFire'],
  ])('is a 503 with Retry-After if it %s persistently', async (_, status, __type) => {
    answer = { status, body: JSON.stringify({ __type, message: 'internals of AWS' }) };
    expect(await admitOver(port())).toMatchObject({
      status: 503,
      code: 'service_unavailable',
      headers: { 'retry-after': '1' },
      message: expect.not.stringContaining('internals'),
    });
  });

  test('is also an outage if it is unreachable', async () => {
    const closed = port();
    await new Promise((resolve) => server.close(resolve));
    expect(await admitOver(closed)).toMatchObject({ status: 503, code: 'service_unavailable' });
  });

  test('is our bug and not a 503 if it rejects the call itself', async () => {
    answer = { status: 400, body: JSON.stringify({ __type: 'com.amazon.coral.validate#ValidationException', message: 'bad expression' }) };
    const failure = await admitOver(port());
    expect(failure).toMatchObject({ name: 'ValidationException' });
    expect(failure).not.toHaveProperty('status');
  });
});
