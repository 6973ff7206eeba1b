import { InvokeEndpointWithResponseStreamCommand, SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { FieldNames } from '../http/errors.ts';
import type { Target } from '../models/model.ts';
import type { UpstreamChunk } from './chunk.ts';
import { BrokenAtWork, isBrokenConnection, toUpstreamError } from './errors.ts';
import { createStreamReader } from './read-stream.ts';

const CONNECTION_TIMEOUT_MS = 2_000;
/** Silence on the connection for longer than this means that the container is gone. */
const SILENCE_TIMEOUT_MS = 300_000;
const MAX_SOCKETS = 1_024;
/** A kept connection that was closed under us breaks at once; one that breaks later may have brought the request to the container. */
const STALE_CONNECTION_MS = 250;
/** After its terminator a stream is read to its end, so that the connection can serve again, but for no longer than this. */
const DRAIN_MS = 1_000;

export interface Invocation {
  target: Target;
  /** The JSON that the container is asked. */
  body: string;
  /** How many answers must come to their end. */
  choices: number;
  signal: AbortController;
  /** Requests with the same one have prompts that begin alike: told to an endpoint that routes by prefixes. */
  affinity?: string | undefined;
  /** What the route calls properties that a chat completion calls otherwise. */
  names?: FieldNames | undefined;
  /** Called when the container has taken the request: the head of its answer is here. */
  onHead?: () => void;
}

/** Starts an invocation and gives the chunks of its answer, a batch for each payload part. Throws only errors that may be told. */
export type Invoke = (invocation: Invocation) => AsyncGenerator<UpstreamChunk[]>;

/**
 * The SageMaker runtime. ALWAYS the streaming call: the plain one dies at 60 s. Never retried by the SDK, because an
 * invocation is not idempotent; but sent once more when the connection broke at once, as a kept connection does
 * that was closed while its environment was frozen. One client a region, made when first needed.
 */
export const createInvoke = (): Invoke => {
  const clients = new Map<string, SageMakerRuntimeClient>();
  const clientFor = (region: string | undefined): SageMakerRuntimeClient => {
    const known = clients.get(region ?? '');
    if (known) return known;
    const client = new SageMakerRuntimeClient({
      ...(region && { region }),
      maxAttempts: 1,
      cacheMiddleware: true,
      requestHandler: new NodeHttpHandler({
        connectionTimeout: CONNECTION_TIMEOUT_MS,
        socketTimeout: SILENCE_TIMEOUT_MS,
        httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
        httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      }),
    });
    clients.set(region ?? '', client);
    return client;
  };

  return async function* ({ target, body, choices, signal, affinity, names, onHead }) {
    let isRead = false;
    try {
      const command = new InvokeEndpointWithResponseStreamCommand({
        EndpointName: target.endpoint,
        InferenceComponentName: target.component,
        ContentType: 'application/json',
        ...(target.prefix_aware && affinity !== undefined && { PrefixAwareId: affinity }),
        Body: body,
      });
      const send = () => clientFor(target.region).send(command, { abortSignal: signal.signal });
      const sentAtMs = performance.now();
      const { Body } = await send().catch((error: unknown) => {
        if (!isBrokenConnection(error) || signal.signal.aborted) throw error;
        if (performance.now() - sentAtMs > STALE_CONNECTION_MS) throw new BrokenAtWork(error);
        return send();
      });
      onHead?.();
      const reader = createStreamReader(choices);
      let drain: NodeJS.Timeout | undefined;
      try {
        for await (const part of Body ?? []) {
          if (!part.PayloadPart?.Bytes || drain) continue;
          const chunks = reader.push(part.PayloadPart.Bytes);
          if (chunks.length > 0) yield chunks;
          if (reader.failure) throw reader.failure;
          if (reader.isDone) drain = setTimeout(() => signal.abort(), DRAIN_MS);
        }
      } catch (error) {
        if (!reader.isDone) throw error;
      } finally {
        clearTimeout(drain);
      }
      const last = reader.end();
      if (last.length > 0) yield last;
      if (reader.failure) throw reader.failure;
      isRead = true;
    } catch (error) {
      throw toUpstreamError(error, names);
    } finally {
      // Leaving the loop does not stop the container; aborting does.
      if (!isRead) signal.abort();
    }
  };
};
