import { randomBase62 } from './base62.ts';

/** Every kind of id and its prefix, so that a pasted id tells what it is. */
export const prefixes = {
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
/** A request's id tells its time too: `request-id.ts`. */
type RandomIdKind = Exclude<IdKind, 'request'>;

/** The random part at the end of an id: 18 base62 characters, 107 bits. */
export const RANDOM_CHARACTERS = 18;

/** A new id of that kind, for instance `req_8fK2…`. */
export const newId = (kind: RandomIdKind): string => prefixes[kind] + randomBase62(RANDOM_CHARACTERS);

/** The same id under another prefix: a reply's id and its request's id tell of each other. */
export const idLike = (kind: IdKind, other: string): string => prefixes[kind] + other.slice(other.search(/[_-]/) + 1);
