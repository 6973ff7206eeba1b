import { fromBase62, randomBase62, toBase62 } from './base62.ts';

/** Every kind of id and its prefix, so that people can recognize a pasted id. */
export const prefixes = {
  key: 'key_',
  organization: 'org_',
  project: 'prj_',
  user: 'user_',
  session: 'ses_',
  serviceAccountSecret: 'sas_',
  federationRule: 'fed_',
  identityProvider: 'idp_',
  scimToken: 'scim_',
  group: 'grp_',
  event: 'evt_',
  price: 'price_',
  split: 'spl_',
  deployment: 'dep_',
  benchmark: 'bench_',
  adapter: 'lora_',
  gpuTime: 'gpu_',
  invoice: 'inv_',
  creditNote: 'cn_',
  rerate: 'rr_',
  export: 'exp_',
  webhook: 'wh_',
  ticket: 'tkt_',
  attachment: 'att_',
  delivery: 'dlv_',
  request: 'req_',
  chatCompletion: 'chatcmpl-',
  completion: 'cmpl-',
  response: 'resp_',
  message: 'msg_',
  rerank: 'rerank-',
  functionCall: 'fc_',
  reasoning: 'rs_',
  toolUse: 'toolu_',
  customToolCall: 'ctc_',
  toolSearchCall: 'tsc_',
  localShellCall: 'lsc_',
  compaction: 'cmp_',
} as const;

/** A kind of id. */
export type IdKind = keyof typeof prefixes;
// Request ids also contain the time: see `request-id.ts`.
type RandomIdKind = Exclude<IdKind, 'request'>;

/** The random part at the end of an id: 18 base62 characters, 107 bits. */
export const RANDOM_CHARACTERS = 18;

/** Milliseconds since the epoch in seven base62 characters: enough until the year 2081. */
export const TIME_CHARACTERS = 7;

/** A time as the start of an id, so that ids sort by time. */
export const timeOfId = (atMs: number): string => toBase62(atMs, TIME_CHARACTERS);

/** The latest time that an id can begin with. */
export const MAX_ID_TIME_MS = 62 ** TIME_CHARACTERS - 1;

/** A new id that begins with its time, so that ids in a table sort by creation; 65 bits are random. */
export const newTimedId = (kind: RandomIdKind, atMs: number): string =>
  prefixes[kind] + timeOfId(atMs) + randomBase62(RANDOM_CHARACTERS - TIME_CHARACTERS);

/** When an id with a time was created, in milliseconds since the epoch. */
export const timeOfTimedId = (kind: RandomIdKind, id: string): number =>
  fromBase62(id.slice(prefixes[kind].length, prefixes[kind].length + TIME_CHARACTERS));

/** The same id with another prefix: a reply's id can be derived from its request's id, and vice versa. */
export const idLike = (kind: IdKind, other: string): string => prefixes[kind] + other.slice(other.search(/[_-]/) + 1);
