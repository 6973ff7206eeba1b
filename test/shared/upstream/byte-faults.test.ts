import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import { UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import { createInvoke as createDirectInvoke } from '../../../shared/upstream/invoke.ts';
import { createSdkInvoke } from '../../../shared/upstream/sdk-invoke.ts';
import { startWordContainer } from '../../support/emulators/word-container.ts';
import { type ByteFault, type ByteFaultProxy, startByteFaultProxy } from '../../support/faults/byte-fault-proxy.ts';
import { FRAME_PLACES, REPLY_PLACES, REQUEST_PLACES } from '../../support/faults/byte-places.ts';

const HITS_AT_EACH_PLACE = 5;
// The caller aborts an invocation after this time, as the function does when its time is over.
const ABORT_MS = 1_000;
const STALL_ABORT_MS = 200;
const WORDS = ['one ', 'two ', 'é漢 ', 'four'];
const TEXT = WORDS.join('');
const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret' };

let container: Awaited<ReturnType<typeof startWordContainer>>;
let proxy: ByteFaultProxy;
beforeAll(async () => {
  container = await startWordContainer(WORDS);
  proxy = await startByteFaultProxy(container.sagemakerUrl, { random: seededRandom(5), faultOf: () => undefined, credentials });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: proxy.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
});
afterAll(async () => {
  await proxy.close();
  await container.close();
});

const ask = async (invoke: Invoke, abortMs?: number): Promise<{ text: string; error?: unknown }> => {
  const signal = new AbortController();
  const timer = abortMs && setTimeout(() => signal.abort(), abortMs);
  let text = '';
  try {
    for await (const chunks of invoke({ target: { endpoint: 'e', weight: 1 }, body: '{"messages":[]}', choices: 1, signal }))
      for (const { choices } of chunks) text += choices?.[0]?.delta?.content ?? '';
    return { text };
  } catch (error) {
    return { text, error };
  } finally {
    clearTimeout(timer);
  }
};

const places = [...REQUEST_PLACES, ...REPLY_PLACES, ...FRAME_PLACES];
const faults: ByteFault[] = [
  ...(['cut', 'corrupt'] as const).flatMap((kind) => places.map((place) => ({ kind, place }))),
  { kind: 'stall', place: 'request body' },
  { kind: 'stall', place: 'frame payload' },
];
const isFrame = ({ place }: ByteFault): boolean => place.startsWith('frame ');
// With the SDK, a reply that breaks within its head looks like a kept connection that was closed meanwhile, after which
// an invocation is sent again.
const mayRepeat = (client: string, { kind, place }: ByteFault): boolean =>
  client === 'sdk' && kind === 'cut' && ['status line', 'headers'].includes(place);

describe.each([
  ['direct', createDirectInvoke],
  ['sdk', createSdkInvoke],
] as const)('over the %s client,', (client, createInvoke) => {
  describe.each(faults)('an invocation with a fault ($kind, $place)', (fault) => {
    test('fails with a part of the right answer, is processed at most once, and the next one succeeds', async () => {
      const invoke = createInvoke();
      const most = mayRepeat(client, fault) ? 2 : 1;
      expect(await ask(invoke)).toEqual({ text: TEXT });
      for (let hit = 0; hit < HITS_AT_EACH_PLACE; hit++) {
        const [before, processed, connections] = [proxy.exchanges(), container.invocations(), proxy.connections()];
        proxy.setFaults(({ number }) => (number === before + 1 ? fault : undefined));
        const { text, error } = await ask(invoke, fault.kind === 'stall' ? STALL_ABORT_MS : ABORT_MS);
        const invocations = container.invocations() - processed;
        expect(invocations).toBeLessThanOrEqual(most);
        expect(TEXT.startsWith(text)).toBe(true);
        if (error) expect(error).toBeInstanceOf(UpstreamFailed);
        // For example, a cut request was sent again, or only the name of a header that nothing reads was changed.
        else expect([text, invocations]).toEqual([TEXT, mayRepeat(client, fault) ? invocations : 1]);
        expect(await ask(invoke)).toEqual({ text: TEXT });
        // A damage after the terminator is no failure.
        if (client === 'direct' && isFrame(fault) && error) expect(proxy.connections()).toBeGreaterThan(connections);
      }
    });
  });
});
