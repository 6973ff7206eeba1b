import { InvokeEndpointWithResponseStreamCommand, SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { FieldNames } from '../http/errors.ts';
import type { Target } from '../models/model.ts';
import type { UpstreamChunk } from './chunk.ts';
import { BrokenAtWork, isBrokenConnection, toUpstreamError } from './errors.ts';
import { createStreamReader } from './read-stream.ts';

const CONNECTION_TIMEOUT_MS = 2_000;
/** A connection without data for longer than this is considered lost. */
const SILENCE_TIMEOUT_MS = 300_000;
const MAX_SOCKETS = 1_024;
/** A stale keep-alive connection breaks at once. If it breaks later than this, the request may have reached the container. */
const STALE_CONNECTION_MS = 250;
/** After its terminator a stream is read to the end, so that the connection can be reused, but for no longer than this. */
const DRAIN_MS = 1_000;

export interface Invocation {
  target: Target;
  /** The JSON body for the container. */
  body: string;
  /** The number of choices that must finish. */
  choices: number;
  signal: AbortController;
  /** Equal for requests whose prompts begin alike; sent to endpoints with prefix-aware routing. */
  affinity?: string | undefined;
  /** The route's names for a chat completion's fields. */
  names?: FieldNames | undefined;
  /** Called when the container has accepted the request and the head of its reply has arrived. */
  onHead?: () => void;
}

/** Starts an invocation and yields the chunks of its answer, one batch per payload part. Throws the errors of `toUpstreamError`. */
export type Invoke = (invocation: Invocation) => AsyncGenerator<UpstreamChunk[]>;

/**
 * Invokes the SageMaker runtime. ALWAYS uses the streaming call: the plain one times out after 60 s. The SDK never retries, because an invocation is
 * not idempotent. It is sent once more only if the connection broke at once, as a keep-alive connection does that was closed while the environment
 * was frozen. There is one client per region, created when first needed.
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
      // Only an abort stops the container; leaving the loop does not.
      if (!isRead) signal.abort();
    }
  };
};
