import { randomBase62 } from '../../shared/ids/base62.ts';
import { prefixes, RANDOM_CHARACTERS } from '../../shared/ids/id.ts';

/** A random id of that kind. */
export const newId = (kind: keyof typeof prefixes): string => prefixes[kind] + randomBase62(RANDOM_CHARACTERS);
