import type { PromptMessage } from '../../../shared/tokens/prompt.ts';

// Step 0 keeps the whole conversation, each next step drops more from its beginning. System messages, the last user
// message and the newest message stay; a call and its results go together; the answers to a user message go with it,
// so that after the system messages the rest begins with a user message.
interface Eviction {
  steps: number;
  /** The indexes of the messages that a step keeps, ascending. */
  keptAt(step: number): number[];
}

const isPinned = ({ role }: PromptMessage): boolean => role !== 'user' && role !== 'assistant' && role !== 'tool';

// A call may only be evicted together with its results.
const callOf = (messages: readonly PromptMessage[]): (number | undefined)[] => {
  const calls = new Map<string, number>();
  return messages.map(({ role, tool_calls, tool_call_id }, index) => {
    for (const { id } of tool_calls ?? []) calls.set(id, index);
    return role === 'tool' ? (calls.get(tool_call_id ?? '') ?? index - 1) : undefined;
  });
};

// Everything before one of these indexes can be evicted without separating a call from its results. Ascending.
const cutsOf = (messages: readonly PromptMessage[]): number[] => {
  const answers = callOf(messages);
  const cuts: number[] = [];
  let firstCall = Number.POSITIVE_INFINITY;
  for (let i = messages.length - 1; i > 0; i--) {
    firstCall = Math.min(firstCall, answers[i] ?? Number.POSITIVE_INFINITY);
    if (firstCall >= i) cuts.push(i);
  }
  return cuts.reverse();
};

export const createEviction = (messages: readonly PromptMessage[]): Eviction => {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const stays = messages.map((message, index) => index === lastUser || isPinned(message));
  const mayBegin = (cut: number): boolean =>
    !isPinned(messages[cut] as PromptMessage) && (cut > lastUser || messages[cut]?.role === 'user');
  let droppable = stays.indexOf(false);
  const cuts = cutsOf(messages).filter((cut) => {
    // A cut that drops no more than the previous one is not a step.
    if (!mayBegin(cut) || droppable < 0 || droppable >= cut) return false;
    droppable = stays.indexOf(false, cut);
    return true;
  });
  return {
    steps: cuts.length + 1,
    keptAt: (step) => {
      const cut = cuts[step - 1] ?? 0;
      return messages.flatMap((_, index) => (index >= cut || stays[index] ? [index] : []));
    },
  };
};
