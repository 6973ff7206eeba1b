import { type AwsCall, type AwsCaller, createCaller } from '../aws/caller.ts';
import type { Target } from '../models/model.ts';
import { CONNECT_MS, type Invocation, type Invoke, invokeWith, MAX_SOCKETS, sendInvocation } from './invocation.ts';
import { type AnswerReader, createAnswerReader } from './read-answer.ts';

// The container may take this long until its first byte.
const SILENCE_MS = 300_000;
const MAX_ERROR_BYTES = 1024 * 1024;
const named = new WeakMap<Target, AwsCall['headers']>();

// Always the same list for a target, which is signed faster.
const headersOf = (target: Target): AwsCall['headers'] => {
  const known = named.get(target);
  if (known) return known;
  const { component } = target;
  const json = ['content-type', 'application/json'] as const;
  const made = Object.freeze(component === undefined ? [json] : [json, ['x-amzn-sagemaker-inference-component', component] as const]);
  named.set(target, made);
  return made;
};

/**
 * Invokes the SageMaker runtime
 * (https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpointWithResponseStream.html).
 * ALWAYS uses the streaming call: the plain one times out after 60 s. Never retries, because an invocation is not
 * idempotent. It is sent once more only if the connection broke at once, as a keep-alive connection does that was
 * closed while the environment was frozen. There is one client per region, created when first needed.
 */
export const createInvoke = (): Invoke => {
  const callers = new Map<string, AwsCaller>();
  const callerFor = (region: string | undefined): AwsCaller => {
    const known = callers.get(region ?? '');
    if (known) return known;
    const caller = createCaller({
      service: 'sagemakerRuntime',
      region,
      connectMs: CONNECT_MS,
      silenceMs: SILENCE_MS,
      maxReplyBytes: MAX_ERROR_BYTES,
      maxSockets: MAX_SOCKETS,
    });
    callers.set(region ?? '', caller);
    return caller;
  };

  /** Sends an invocation and reads the head of its reply. */
  const open = async ({ target, body, choices, signal, affinity, onHead }: Invocation): Promise<AnswerReader> => {
    const known = headersOf(target);
    const headers =
      target.prefix_aware && affinity !== undefined ? [...known, ['x-amzn-sagemaker-prefix-aware-id', affinity] as const] : known;
    const path = `/endpoints/${encodeURIComponent(target.endpoint)}/invocations-response-stream`;
    const send = () => callerFor(target.region).open({ path, headers, body, signal: signal.signal });
    const reply = await sendInvocation(signal, send);
    onHead?.();
    return createAnswerReader(reply, choices, () => signal.abort());
  };

  return invokeWith(open);
};
