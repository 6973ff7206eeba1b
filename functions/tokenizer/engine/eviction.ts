import type { PromptMessage } from '../../../shared/tokens/prompt.ts';

/**
 * The ways to shorten a conversation from its beginning, in the order in which they are to be tried: the first keeps everything,
 * each next one drops more, the last keeps what must stay. The rules:
 *
 * - system messages, the last message of the user and the last message of all stay;
 * - a message with tool calls and the messages that answer it stay or go together;
 * - what answers a message of the user goes when it goes: what is left begins, after the system messages, with a message of the user.
 */
export interface Eviction {
  steps: number;
  /** The indexes of the messages that a step keeps, ascending. */
  keptAt(step: number): number[];
}

const isPinned = ({ role }: PromptMessage): boolean => role !== 'user' && role !== 'assistant' && role !== 'tool';

/** For each message the index of the call that it answers; a call may only be cut off together with its answers. */
const callOf = (messages: readonly PromptMessage[]): (number | undefined)[] => {
  const calls = new Map<string, number>();
  return messages.map(({ role, tool_calls, tool_call_id }, index) => {
    for (const { id } of tool_calls ?? []) calls.set(id, index);
    return role === 'tool' ? (calls.get(tool_call_id ?? '') ?? index - 1) : undefined;
  });
};

/** The places before which everything may be cut off without parting a call from its answers, ascending. */
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

/** Works out how a conversation may be shortened. */
export const createEviction = (messages: readonly PromptMessage[]): Eviction => {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const stays = messages.map((message, index) => index === lastUser || isPinned(message));
  const mayBegin = (cut: number): boolean =>
    !isPinned(messages[cut] as PromptMessage) && (cut > lastUser || messages[cut]?.role === 'user');
  let droppable = stays.indexOf(false);
  const cuts = cutsOf(messages).filter((cut) => {
    // One that drops nothing more than the cut before it is no step.
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
