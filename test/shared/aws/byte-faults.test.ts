import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import { FunctionUnavailable } from '../../../shared/aws/function-errors.ts';
import { createInvokeFunction } from '../../../shared/aws/invoke-function.ts';
import { startFakeLambda, temporaryCredentials } from '../../support/emulators/fake-lambda.ts';
import { type ByteFault, type ByteFaultProxy, startByteFaultProxy } from '../../support/faults/byte-fault-proxy.ts';
import { REPLY_PLACES, REQUEST_PLACES } from '../../support/faults/byte-places.ts';

const HITS = 5;
const RESULT = { tokens: [1, 2, 3], text: 'é' };

let lambda: Awaited<ReturnType<typeof startFakeLambda>>;
let proxy: ByteFaultProxy;
beforeAll(async () => {
  lambda = await startFakeLambda();
  lambda.answers((response) => response.end(JSON.stringify(RESULT)));
  const options = { random: seededRandom(9), faultOf: () => undefined, credentials: temporaryCredentials };
  proxy = await startByteFaultProxy(lambda.url, options);
  process.env.AWS_ENDPOINT_URL_LAMBDA = proxy.url;
});
afterAll(async () => {
  await proxy.close();
  await lambda.close();
});

// Replies of Lambda have no checksum: TLS protects their bodies. A corrupted length would be waited for as long as the
// function may take.
const faults: ByteFault[] = [
  ...[...REQUEST_PLACES, ...REPLY_PLACES].map((place) => ({ kind: 'cut', place }) as const),
  { kind: 'corrupt', place: 'status line' },
  { kind: 'corrupt', place: 'request body' },
];

describe.each(faults)('an invocation of a function with a fault ($kind, $place)', (fault) => {
  const isRejected = fault.kind === 'corrupt' && fault.place === 'request body';

  test('has its result after one more attempt, unless Lambda rejects it', async () => {
    const invoke = createInvokeFunction();
    for (let hit = 0; hit < HITS; hit++) {
      const before = proxy.exchanges();
      proxy.setFaults(({ number }) => (number === before + 1 ? fault : undefined));
      if (isRejected) await expect(invoke('f', { hit })).rejects.toBeInstanceOf(FunctionUnavailable);
      else expect(await invoke('f', { hit })).toEqual(RESULT);
      expect(proxy.exchanges() - before).toBeLessThanOrEqual(2);
    }
  });

  test('is a 503 if each attempt has it', async () => {
    proxy.setFaults(() => ({ ...fault, kind: fault.place === 'status line' ? 'cut' : fault.kind }));
    await expect(createInvokeFunction()('f', {})).rejects.toBeInstanceOf(FunctionUnavailable);
  });
});
