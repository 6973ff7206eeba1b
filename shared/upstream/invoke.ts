import { type AwsCall, type AwsCaller, createCaller } from '../aws/caller.ts';
import type { Target } from '../models/model.ts';
import { CONNECT_MS, type Invocation, type Invoke, invokeWith, MAX_SOCKETS, sendInvocation } from './invocation.ts';
import { type AnswerReader, createAnswerReader } from './read-answer.ts';
import { MAX_WHOLE_REPLY_BYTES, WHOLE_REPLY_MS, wholeAnswer } from './whole-answer.ts';

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

// One caller per region, created when first needed.
const createCallers = (bounds: { silenceMs: number; maxReplyBytes: number }): ((target: Target) => AwsCaller) => {
  const callers = new Map<string, AwsCaller>();
  return ({ region }) => {
    const known = callers.get(region ?? '');
    if (known) return known;
    const caller = createCaller({ service: 'sagemakerRuntime', region, connectMs: CONNECT_MS, ...bounds, maxSockets: MAX_SOCKETS });
    callers.set(region ?? '', caller);
    return caller;
  };
};

const toCall = (operation: string, { target, body, signal, affinity }: Invocation): AwsCall => {
  const known = headersOf(target);
  const headers =
    target.prefix_aware && affinity !== undefined ? [...known, ['x-amzn-sagemaker-prefix-aware-id', affinity] as const] : known;
  return { path: `/endpoints/${encodeURIComponent(target.endpoint)}/${operation}`, headers, body, signal: signal.signal };
};

/**
 * Invokes the SageMaker runtime
 * (https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpointWithResponseStream.html).
 * For generated text this is always the streaming call: the plain one times out after 60 s. Never retries, because an
 * invocation is not idempotent. It is sent once more only if the connection broke at once, as a keep-alive connection
 * does that was closed while the environment was frozen. There is one client per region, created when first needed.
 */
export const createInvoke = (): Invoke => {
  const callerFor = createCallers({ silenceMs: SILENCE_MS, maxReplyBytes: MAX_ERROR_BYTES });

  /** Sends an invocation and reads the head of its reply. */
  const open = async (invocation: Invocation): Promise<AnswerReader> => {
    const { target, choices, signal, onHead } = invocation;
    const call = toCall('invocations-response-stream', invocation);
    const reply = await sendInvocation(signal, () => callerFor(target).open(call));
    onHead?.();
    return createAnswerReader(reply, choices, () => signal.abort());
  };

  return invokeWith(open);
};

/**
 * Invokes the SageMaker runtime as `createInvoke` does, for a reply that is read whole: vectors and scores
 * (https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html).
 */
export const createWholeInvoke = (): Invoke => {
  const callerFor = createCallers({ silenceMs: WHOLE_REPLY_MS, maxReplyBytes: MAX_WHOLE_REPLY_BYTES });
  return invokeWith(async (invocation) => {
    const { target, signal, onHead } = invocation;
    const call = toCall('invocations', invocation);
    const body = await sendInvocation(signal, () => callerFor(target).call(call, 1, (reply) => reply.body));
    onHead?.();
    return wholeAnswer(body);
  });
};
