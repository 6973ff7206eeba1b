import { randomBase62 } from './base62.ts';

/** Every kind of id and its prefix, so that a pasted id tells what it is. */
const prefixes = {
  key: 'key_',
  organization: 'org_',
  request: 'req_',
  chatCompletion: 'chatcmpl-',
  completion: 'cmpl-',
  response: 'resp_',
  message: 'msg_',
  functionCall: 'fc_',
  reasoning: 'rs_',
} as const;

export type IdKind = keyof typeof prefixes;

/** The random part of an id: 18 base62 characters, 107 bits. */
const RANDOM_CHARACTERS = 18;

/** A new id of that kind, for instance `req_8fK2…`. */
export const newId = (kind: IdKind): string => prefixes[kind] + randomBase62(RANDOM_CHARACTERS);

/** The same random part under another prefix: a reply's id and its request's id tell of each other. */
export const idLike = (kind: IdKind, other: string): string => prefixes[kind] + other.slice(-RANDOM_CHARACTERS);
