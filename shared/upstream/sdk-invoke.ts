import { InvokeEndpointCommand, InvokeEndpointWithResponseStreamCommand, SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { AwsError, DamagedReply } from '../aws/errors.ts';
import { fromSdk } from '../aws/sdk-errors.ts';
import type { Target } from '../models/model.ts';
import { CONNECT_MS, type Invocation, type Invoke, invokeWith, MAX_SOCKETS, sendInvocation } from './invocation.ts';
import { createSdkAnswerReader } from './sdk-answer.ts';
import { MAX_WHOLE_REPLY_BYTES, WHOLE_REPLY_MS, wholeAnswer } from './whole-answer.ts';

// The container may take this long until its first byte, and between two of them.
const SILENCE_MS = 300_000;

const createClient = (region: string | undefined, silenceMs: number): SageMakerRuntimeClient =>
  new SageMakerRuntimeClient({
    ...(region !== undefined && { region }),
    // An invocation is not idempotent.
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECT_MS,
      requestTimeout: silenceMs,
      throwOnRequestTimeout: true,
      socketTimeout: silenceMs,
      httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    }),
  });

const toInput = ({ target, body }: Invocation) => ({
  EndpointName: target.endpoint,
  ContentType: 'application/json',
  Body: body,
  ...(target.component !== undefined && { InferenceComponentName: target.component }),
});

type Command = InvokeEndpointCommand | InvokeEndpointWithResponseStreamCommand;

// The SDK does not know the header for prefix-aware routing. `sent` gets the time at which the command is sent; the
// result says whether the head of its reply has arrived.
const watch = (command: Command, { target, affinity }: Invocation, sent: { atMs: number }): { hasHead: boolean; broken?: unknown } => {
  const seen: { hasHead: boolean; broken?: unknown } = { hasHead: false };
  const { middlewareStack: stack } = command as InvokeEndpointWithResponseStreamCommand;
  stack.add(
    (next) => async (given) => {
      const { headers } = given.request as { headers: Record<string, string> };
      if (target.prefix_aware && affinity !== undefined) headers['x-amzn-sagemaker-prefix-aware-id'] = affinity;
      return next(given);
    },
    { step: 'build', name: 'prefixAwareId' },
  );
  stack.add(
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
  return seen;
};

const createClients = (silenceMs: number): ((target: Target) => SageMakerRuntimeClient) => {
  const clients = new Map<string | undefined, SageMakerRuntimeClient>();
  return ({ region }) => {
    const client = clients.get(region) ?? createClient(region, silenceMs);
    clients.set(region, client);
    return client;
  };
};

// Sends a command, once more if its connection broke at once.
const sendCommand = <Output>(
  invocation: Invocation,
  createCommand: () => Command,
  send: (command: Command) => Promise<Output>,
): Promise<Output> =>
  sendInvocation(invocation.signal, async (sent) => {
    const command = createCommand();
    const seen = watch(command, invocation, sent);
    try {
      return await send(command);
    } catch (thrown) {
      // The SDK's retries can wrap an error of the network.
      const error = fromSdk(seen.broken ?? thrown);
      // A reply that breaks after its head is the body of an error.
      throw seen.hasHead && !(error instanceof AwsError) ? new DamagedReply(`A reply broke off: ${(thrown as Error).message}`) : error;
    }
  });

/**
 * Invokes the SageMaker runtime as `createInvoke` does, with the AWS SDK. It knows less: if a connection breaks at
 * once within the head of a reply, the invocation is sent once more; `x-amz-crc32` is not checked; and a connection
 * can be used again after a stream was damaged on it.
 */
export const createSdkInvoke = (): Invoke => {
  const clientFor = createClients(SILENCE_MS);
  return invokeWith(async (invocation) => {
    const { target, choices, signal, onHead } = invocation;
    const { Body } = await sendCommand(
      invocation,
      () => new InvokeEndpointWithResponseStreamCommand(toInput(invocation)),
      (command) => clientFor(target).send(command as InvokeEndpointWithResponseStreamCommand, { abortSignal: signal.signal }),
    );
    if (!Body) throw new DamagedReply('The reply has no stream.');
    onHead?.();
    return createSdkAnswerReader(Body, choices, () => signal.abort());
  });
};

/** Invokes the SageMaker runtime as `createWholeInvoke` does, with the AWS SDK, which reads any reply to its end. */
export const createSdkWholeInvoke = (): Invoke => {
  const clientFor = createClients(WHOLE_REPLY_MS);
  return invokeWith(async (invocation) => {
    const { target, signal, onHead } = invocation;
    const { Body } = await sendCommand(
      invocation,
      () => new InvokeEndpointCommand(toInput(invocation)),
      (command) => clientFor(target).send(command as InvokeEndpointCommand, { abortSignal: signal.signal }),
    );
    onHead?.();
    if (!Body || Body.length > MAX_WHOLE_REPLY_BYTES)
      throw new DamagedReply(`A reply has no body of at most ${MAX_WHOLE_REPLY_BYTES} bytes.`);
    return wholeAnswer(Buffer.from(Body.buffer, Body.byteOffset, Body.byteLength));
  });
};
