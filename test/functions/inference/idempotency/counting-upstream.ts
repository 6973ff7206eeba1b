import type { Invocation, Invoke } from '../../../../shared/upstream/invoke.ts';

/** An upstream that counts its invocations. */
export const counting = (invoke: Invoke) => {
  let asked = 0;
  const counted: Invoke = (invocation: Invocation) => {
    asked++;
    return invoke(invocation);
  };
  return { counted, asked: () => asked };
};
