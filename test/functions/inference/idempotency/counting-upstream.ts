import type { Invocation, Invoke } from '../../../../shared/upstream/invocation.ts';

/** An upstream that counts its invocations. */
export const counting = (invoke: Invoke) => {
  let requestCount = 0;
  const counted: Invoke = (invocation: Invocation) => {
    requestCount++;
    return invoke(invocation);
  };
  return { counted, requestCount: () => requestCount };
};
