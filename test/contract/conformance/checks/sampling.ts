import { type Check, reply } from '../check.ts';
import type { Facts } from '../facts.ts';
import type { Reply } from '../reply.ts';
import { accepted, fails, notShown, type Verdict, works } from '../verdict.ts';

// Departs from the greedy answer at once.
const HOT = { temperature: 1.5, seed: 7 };
const TINY = 1e-4;
const LONG = {
  messages: [{ role: 'user', content: 'Write about the river, and say "the river" as often as you can.' }],
  temperature: 1,
  seed: 7,
  max_tokens: 96,
};

// Only the most likely token is allowed, so a high temperature changes nothing.
const isGreedy = (replies: readonly Reply[], { greedy }: Facts): Verdict => {
  const [free, cut] = [reply(replies, 0), reply(replies, 1)];
  if (cut.text !== greedy) return fails("should return the most likely answer, but didn't");
  return free.text === greedy ? accepted : works;
};

// One token is allowed a step, whichever it is, so the seed changes nothing.
const isSure = (replies: readonly Reply[]): Verdict => {
  const [free, cut, again] = [reply(replies, 0), reply(replies, 1), reply(replies, 2)];
  if (cut.text !== again.text) return fails('different seeds give different answers, although only one token is possible at each step');
  return free.text === cut.text ? accepted : works;
};

/** The share of an answer's words that occurred before in it. */
export const repeats = (text: string): number => {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  return words.length === 0 ? 0 : 1 - new Set(words).size / words.length;
};

const repeatsLess = (replies: readonly Reply[]): Verdict => {
  const [free, held] = [reply(replies, 0), reply(replies, 1)];
  if (free.text === held.text) return repeats(free.text) === 0 ? notShown('the answer repeats no word') : fails('has no effect');
  return repeats(held.text) < repeats(free.text) ? works : accepted;
};

const differs = (replies: readonly Reply[]): Verdict =>
  reply(replies, 0).text === reply(replies, 1).text ? fails('has no effect') : works;

const isReproducible = (replies: readonly Reply[]): Verdict => {
  const [first, same, ...others] = replies.map(({ text }) => text);
  if (first !== same) return fails('the same seed gives different answers');
  return others.every((other) => other === first) ? fails('every seed gives the same answer') : works;
};

const allowsOnlyTheLikeliest = (field: Check['field'], value: number, variant?: string): Check => ({
  field,
  ...(variant && { variant }),
  bodies: () => [HOT, { ...HOT, [field]: value }],
  judge: isGreedy,
});

const penalty = (field: Check['field']): Check => ({ field, bodies: () => [LONG, { ...LONG, [field]: 2 }], judge: repeatsLess });

/** Checks of how the next token is chosen. */
export const samplingChecks: readonly Check[] = [
  {
    field: 'temperature',
    bodies: () => [{ temperature: 0 }, { temperature: 0 }, HOT],
    judge: (replies) => {
      const [first, again, hot] = replies.map(({ text }) => text);
      if (first !== again) return fails('temperature 0 gives different answers');
      return hot === first ? fails('has no effect') : works;
    },
  },
  allowsOnlyTheLikeliest('top_p', TINY),
  allowsOnlyTheLikeliest('top_p', 0, '0'),
  allowsOnlyTheLikeliest('top_k', 1),
  allowsOnlyTheLikeliest('min_p', 1),
  {
    field: 'typical_p',
    bodies: () => [HOT, { ...HOT, typical_p: TINY }, { ...HOT, seed: 8, typical_p: TINY }],
    judge: isSure,
  },
  {
    field: 'seed',
    bodies: () => [7, 7, 8, 9].map((seed) => ({ temperature: 1, seed })),
    judge: isReproducible,
  },
  penalty('repetition_penalty'),
  penalty('presence_penalty'),
  penalty('frequency_penalty'),
  {
    field: 'mirostat_target',
    bodies: () => [HOT, { ...HOT, mirostat_target: 0.01 }, { ...HOT, seed: 8, mirostat_target: 0.01 }],
    judge: isSure,
  },
  {
    field: 'mirostat_lr',
    bodies: () => [0, 1].map((mirostat_lr) => ({ ...LONG, mirostat_target: 3, mirostat_lr })),
    judge: differs,
  },
];
