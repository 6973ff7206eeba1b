import { InvokeEndpointWithResponseStreamCommand, SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { AwsError, DamagedReply } from '../aws/errors.ts';
import { fromSdk } from '../aws/sdk-errors.ts';
import { CONNECT_MS, type Invocation, type Invoke, invokeWith, MAX_SOCKETS, sendInvocation } from './invocation.ts';
import type { AnswerReader } from './read-answer.ts';
import { createSdkAnswerReader } from './sdk-answer.ts';

// The container may take this long until its first byte, and between two of them.
const SILENCE_MS = 300_000;

const createClient = (region: string | undefined): SageMakerRuntimeClient =>
  new SageMakerRuntimeClient({
    ...(region !== undefined && { region }),
    // An invocation is not idempotent.
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECT_MS,
      requestTimeout: SILENCE_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_MS,
      httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    }),
  });

// The SDK does not know the header for prefix-aware routing. `sent` gets the time at which the command is sent, and
// whether the head of its reply has arrived.
const toCommand = ({ target, body, affinity }: Invocation, sent: { atMs: number }) => {
  const command = new InvokeEndpointWithResponseStreamCommand({
    EndpointName: target.endpoint,
    ContentType: 'application/json',
    Body: body,
    ...(target.component !== undefined && { InferenceComponentName: target.component }),
  });
  const seen: { hasHead: boolean; broken?: unknown } = { hasHead: false };
  command.middlewareStack.add(
    (next) => async (given) => {
      const { headers } = given.request as { headers: Record<string, string> };
      if (target.prefix_aware && affinity !== undefined) headers['x-amzn-sagemaker-prefix-aware-id'] = affinity;
      return next(given);
    },
    { step: 'build', name: 'prefixAwareId' },
  );
  command.middlewareStack.add(
    (next) => async (given) => {
      sent.atMs = performance.now();
      try {
        const result = await next(given);
        seen.hasHead = true;
        return result;
      } catch (error) {
        seen.broken = error;
        throw error;
      }
    },
    { step: 'deserialize', name: 'noteReply', priority: 'low' },
  );
  return { command, seen };
};

/**
 * Invokes the SageMaker runtime as `createInvoke` does, with the AWS SDK. It knows less: if a connection breaks at
 * once within the head of a reply, the invocation is sent once more; `x-amz-crc32` is not checked; and a connection
 * can be used again after a stream was damaged on it.
 */
export const createSdkInvoke = (): Invoke => {
  const clients = new Map<string | undefined, SageMakerRuntimeClient>();
  const clientFor = (region: string | undefined): SageMakerRuntimeClient => {
    const client = clients.get(region) ?? createClient(region);
    clients.set(region, client);
    return client;
  };

  const open = async (invocation: Invocation): Promise<AnswerReader> => {
    const { target, choices, signal, onHead } = invocation;
    const { Body } = await sendInvocation(signal, async (sent) => {
      const { command, seen } = toCommand(invocation, sent);
      try {
        return await clientFor(target.region).send(command, { abortSignal: signal.signal });
      } catch (thrown) {
        // The SDK's retries can wrap an error of the network.
        const error = fromSdk(seen.broken ?? thrown);
        // A reply that breaks after its head is the body of an error.
        throw seen.hasHead && !(error instanceof AwsError) ? new DamagedReply(`A reply broke off: ${(thrown as Error).message}`) : error;
      }
    });
    if (!Body) throw new DamagedReply('The reply has no stream.');
    onHead?.();
    return createSdkAnswerReader(Body, choices, () => signal.abort());
  };
  return invokeWith(open);
};
