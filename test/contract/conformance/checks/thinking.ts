import { BASE, type Check, reply } from '../check.ts';
import type { Reply } from '../reply.ts';
import { accepted, fails, type Verdict, works } from '../verdict.ts';

// Enough tokens for reasoning and an answer.
const ROOM = { max_tokens: 512 };
const FEW = 8;

// `otherwise` is the verdict if the second request did not make the model think less.
const thinksLess =
  (otherwise: Verdict) =>
  (replies: readonly Reply[]): Verdict => {
    const [free, held] = [reply(replies, 0).reasoning.length, reply(replies, 1).reasoning.length];
    if (held < free) return works;
    return free === 0 ? accepted : otherwise;
  };

const history = [
  ...(BASE.messages as object[]),
  { role: 'assistant', reasoning: 'They want to hear of rivers. I shall begin with the source.', content: 'Rivers begin small.' },
  { role: 'user', content: 'And then?' },
];

/** Checks of whether models think, for how long, and which earlier reasoning they get. */
export const thinkingChecks: readonly Check[] = [
  {
    field: 'reasoning_effort',
    kind: 'thinking',
    bodies: () => ['high', 'none'].map((reasoning_effort) => ({ ...ROOM, reasoning_effort })),
    judge: thinksLess(accepted),
  },
  {
    field: 'reasoning_effort',
    variant: 'true and false',
    kind: 'thinking',
    bodies: () => [true, false].map((reasoning_effort) => ({ ...ROOM, reasoning_effort })),
    judge: thinksLess(accepted),
  },
  {
    field: 'reasoning_effort',
    variant: 'a number (where the model keeps a budget)',
    kind: 'thinking',
    bodies: () => [
      { ...ROOM, reasoning_effort: 'high' },
      { ...ROOM, reasoning_effort: FEW },
    ],
    judge: thinksLess(fails('it thinks for as long as without a limit')),
  },
  {
    field: 'thinking',
    kind: 'thinking',
    bodies: () => ['enabled', 'disabled'].map((type) => ({ ...ROOM, thinking: { type } })),
    judge: thinksLess(fails('it thinks anyway')),
  },
  {
    field: 'thinking',
    variant: 'budget_tokens (where the model keeps a budget)',
    kind: 'thinking',
    bodies: () => [
      { ...ROOM, thinking: { type: 'enabled' } },
      { ...ROOM, thinking: { type: 'enabled', budget_tokens: FEW } },
    ],
    judge: thinksLess(fails('it thinks for as long as without a limit')),
  },
  {
    field: 'reasoning_history',
    kind: 'thinking',
    bodies: () => ['disabled', 'interleaved', 'preserved'].map((reasoning_history) => ({ messages: history, reasoning_history })),
    judge: (replies) => {
      const [disabled = 0, interleaved = 0, preserved = 0] = replies.map(({ promptTokens }) => promptTokens);
      if (interleaved !== disabled || preserved < disabled) return fails('the prompt contains earlier reasoning that should be left out');
      return preserved > disabled ? works : accepted;
    },
  },
];
