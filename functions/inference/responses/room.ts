import { heapBytes } from '../memory/heap-bytes.ts';

const MIB = 1024 * 1024;
// The function's code and its caches.
const OWN_BYTES = 22 * MIB;
// While the model's body is made of a conversation and a request: three copies, of two bytes a character.
const BYTES_PER_CHARACTER = 6;
// The memory of a value besides its text, in characters.
const CHARACTERS_PER_VALUE = 25;

/** The characters of conversation and request together for which the function has memory. */
export const MAX_CHARACTERS_TOGETHER = Math.floor((heapBytes - OWN_BYTES) / BYTES_PER_CHARACTER);

// A conversation is continued by a request, which needs a part of the room.
const CONVERSATION_SHARE = 0.75;

/** The characters of a stored conversation that this function can continue. */
export const MAX_CHARACTERS_STORED = Math.floor(MAX_CHARACTERS_TOGETHER * CONVERSATION_SHARE);

/** About how many characters a JSON value has. */
export const charactersOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length + CHARACTERS_PER_VALUE;
  if (typeof value !== 'object' || value === null) return CHARACTERS_PER_VALUE;
  return Object.values(value).reduce((sum: number, part) => sum + charactersOf(part), CHARACTERS_PER_VALUE);
};
