import { type Check, reply } from '../check.ts';
import type { Reply } from '../reply.ts';
import { accepted, fails, type Verdict, works } from '../verdict.ts';

const FEW = 5;
const NEVER_GENERATED = '\u2603\u2603';

const isCutAt =
  (tokens: number) =>
  (replies: readonly Reply[]): Verdict => {
    const { completionTokens, finishReason } = reply(replies, 0);
    if (completionTokens > tokens) return fails(`${completionTokens} tokens, but the request allows at most ${tokens}`);
    return finishReason === 'length' ? works : fails(`the answer was cut off, but finish_reason is '${finishReason}'`);
  };

const stopsBefore = (word: string | undefined, { text, finishReason }: Reply): Verdict => {
  if (!word) return accepted;
  if (text.includes(word)) return fails('the answer continues after the stop string');
  return finishReason === 'stop' ? works : fails(`the answer ended at a stop string, but finish_reason is '${finishReason}'`);
};

const hasChoices =
  (choices: number) =>
  (replies: readonly Reply[]): Verdict => {
    const { choices: made } = reply(replies, 0);
    return made.length === choices ? works : fails(`${made.length} choices, but the request asks for ${choices}`);
  };

// The fourth token of the greedy answer, or the last one, and the position of its first occurrence.
const stopTokenOf = (tokenIds: readonly number[]): { id: number; before: number } | undefined => {
  const id = tokenIds[3] ?? tokenIds.at(-1);
  return id === undefined ? undefined : { id, before: tokenIds.indexOf(id) };
};

/** Checks of where an answer ends and of the number of choices. */
export const lengthChecks: readonly Check[] = [
  { field: 'max_tokens', bodies: () => [{ max_tokens: FEW }], judge: isCutAt(FEW) },
  {
    field: 'max_completion_tokens',
    bodies: () => [{ max_tokens: 20, max_completion_tokens: FEW }],
    judge: isCutAt(FEW),
  },
  { field: 'n', bodies: () => [{ n: 2, temperature: 1 }], judge: hasChoices(2) },
  {
    field: 'stop',
    variant: 'a string',
    bodies: ({ word }) => [{ stop: word ?? NEVER_GENERATED }],
    judge: (replies, { word }) => stopsBefore(word, reply(replies, 0)),
  },
  {
    field: 'stop',
    variant: 'several',
    bodies: ({ word }) => [{ stop: [NEVER_GENERATED, word ?? NEVER_GENERATED] }],
    judge: (replies, { word }) => stopsBefore(word, reply(replies, 0)),
  },
  {
    field: 'ignore_eos',
    bodies: () => {
      const short = { messages: [{ role: 'user', content: 'Say yes.' }], max_tokens: 160 };
      return [short, { ...short, ignore_eos: true }];
    },
    judge: (replies) => {
      const [free, endless] = [reply(replies, 0), reply(replies, 1)];
      if (endless.finishReason !== 'length')
        return fails(`finish_reason is '${endless.finishReason}', but only max_tokens may end the answer`);
      return free.finishReason === 'stop' ? works : accepted;
    },
  },
  {
    field: 'min_tokens',
    bodies: ({ tokenIds }) => [{ stop_token_ids: tokenIds.slice(0, 1), min_tokens: FEW }],
    judge: (replies, { tokenIds }) => {
      const { completionTokens } = reply(replies, 0);
      if (tokenIds.length === 0) return accepted;
      return completionTokens >= FEW ? works : fails(`${completionTokens} tokens, but the request asks for at least ${FEW}`);
    },
  },
  {
    field: 'stop_token_ids',
    bodies: ({ tokenIds }) => [{ stop_token_ids: [stopTokenOf(tokenIds)?.id ?? 0] }],
    judge: (replies, { tokenIds }) => {
      const token = stopTokenOf(tokenIds);
      const { completionTokens, finishReason } = reply(replies, 0);
      if (!token) return accepted;
      if (completionTokens > token.before + 1) return fails('the answer continues after the stop token');
      return finishReason === 'stop' ? works : fails(`the answer ended at a stop token, but finish_reason is '${finishReason}'`);
    },
  },
  {
    field: 'include_stop_str_in_output',
    bodies: ({ word }) => [{ stop: word ?? NEVER_GENERATED, include_stop_str_in_output: true }],
    judge: (replies, { word }) => {
      if (!word) return accepted;
      return reply(replies, 0).text.endsWith(word) ? works : fails("the answer doesn't end with the stop string");
    },
  },
];
