import { EMBEDDING_MODEL, LOCAL_MODEL } from '../../infra/local/container.ts';
import { ask, type Server } from './client.ts';

const base = { model: LOCAL_MODEL, messages: [{ role: 'user', content: 'Tell me about rivers.' }] };
const SHORT_TOKENS = 16;
const MIDDLE_TOKENS = 100;
const LONG_TOKENS = 4_000;
const SEEDS_TRIED = 100;

/** A request for a short answer that is always the same. */
export const shortBody = (stream: boolean): string => JSON.stringify({ ...base, max_tokens: SHORT_TOKENS, temperature: 0, stream });

/** The fallbacks of a request with three candidates. */
export const FALLBACKS = [`${LOCAL_MODEL}-second`, `${LOCAL_MODEL}-third`];
const INPUTS = 32;

/** The same request, with two more models that could answer it. */
export const candidatesBody = (): string => JSON.stringify({ ...JSON.parse(shortBody(false)), models: [LOCAL_MODEL, ...FALLBACKS] });

/** A request for the vectors of 32 sentences. */
export const embeddingsBody = (): string =>
  JSON.stringify({
    model: EMBEDDING_MODEL,
    input: Array.from({ length: INPUTS }, (_, i) => `Sentence ${i} tells how a river reaches the sea.`),
    encoding_format: 'base64',
  });

/** Streams of the start of an answer, of its first 100 tokens and of the whole answer, which differ only in length. */
export interface StreamBodies {
  short: string;
  middle: string;
  long: string;
}

/** Finds the seed with the longest answer, since the container ends most answers early. */
export const findLongAnswer = async (direct: Server): Promise<StreamBodies> => {
  let best = { seed: 0, characters: 0 };
  for (let seed = 1; seed <= SEEDS_TRIED; seed += 1) {
    const { text } = await ask(direct, JSON.stringify({ ...base, temperature: 1, seed, max_tokens: LONG_TOKENS }));
    if (text.length > best.characters) best = { seed, characters: text.length };
  }
  const stream = { ...base, temperature: 1, seed: best.seed, stream: true };
  return {
    short: JSON.stringify({ ...stream, max_tokens: SHORT_TOKENS }),
    middle: JSON.stringify({ ...stream, max_tokens: MIDDLE_TOKENS }),
    long: JSON.stringify({ ...stream, max_tokens: LONG_TOKENS }),
  };
};
