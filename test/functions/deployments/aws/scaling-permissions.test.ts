import { createServer, type Server } from 'node:http';
import { ApplicationAutoScalingClient } from '@aws-sdk/client-application-auto-scaling';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createScaling } from '../../../../functions/deployments/aws/scaling.ts';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import { startCheckedEndpoint } from '../../../support/emulators/checked-endpoint.ts';

// It accepts everything.
let emulator: Server;
let endpoint: Awaited<ReturnType<typeof startCheckedEndpoint>>;
beforeAll(async () => {
  emulator = createServer((_, response) => response.setHeader('content-type', 'application/x-amz-json-1.1').end('{}'));
  endpoint = await startCheckedEndpoint(await listen(emulator, 0), 'deployments');
});
afterAll(async () => {
  await endpoint.close();
  await closeServer(emulator);
});

test('has the permissions that Application Auto Scaling checks, so that it can scale copies', async () => {
  const { url, credentials } = endpoint;
  const scaling = createScaling(new ApplicationAutoScalingClient({ endpoint: url, credentials, region: 'us-east-1' }));
  await expect(scaling.register('sluice-VbdBUPc4RtYvB8fK2m-g1', { min: 1, max: 3, isSuspended: false })).resolves.toBeUndefined();
});
