import { LOCAL_MODEL } from '../../infra/local/container.ts';
import { ask, type Server } from './client.ts';

const base = { model: LOCAL_MODEL, messages: [{ role: 'user', content: 'Tell me about rivers.' }] };
const SHORT_TOKENS = 16;
const LONG_TOKENS = 4_000;
const SEEDS_TRIED = 100;

/** A short answer, the same each time. */
export const shortBody = (stream: boolean): string => JSON.stringify({ ...base, max_tokens: SHORT_TOKENS, temperature: 0, stream });

/** The beginning of an answer as a stream, and the whole of it: two streams that differ by nothing but their length. */
export interface StreamBodies {
  short: string;
  long: string;
}

/** The container ends most answers early; this finds the longest one among those of many seeds. */
export const findLongAnswer = async (direct: Server): Promise<StreamBodies> => {
  let best = { seed: 0, characters: 0 };
  for (let seed = 1; seed <= SEEDS_TRIED; seed += 1) {
    const { text } = await ask(direct, JSON.stringify({ ...base, temperature: 1, seed, max_tokens: LONG_TOKENS }));
    if (text.length > best.characters) best = { seed, characters: text.length };
  }
  const stream = { ...base, temperature: 1, seed: best.seed, stream: true };
  return {
    short: JSON.stringify({ ...stream, max_tokens: SHORT_TOKENS }),
    long: JSON.stringify({ ...stream, max_tokens: LONG_TOKENS }),
  };
};
