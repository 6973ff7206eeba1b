import { createHmac, createSecretKey } from 'node:crypto';
import type { ChatPrompt, TextPrompt } from '../tokens/prompt.ts';
import { type Dialect, sentAs } from './dialect.ts';

/** Facts for every body for a runtime, in addition to the prompt. */
export interface BodyFacts {
  /** The container's name for the model; '' for its default. */
  containerModel: string;
  maxTokens: number;
  requestId: string;
  cacheSalt: string;
  /** The runtime counts with every chunk. Then each count is of one choice, so it must be the only one. */
  continuousUsage?: boolean;
}

type BoundField = 'max_completion_tokens' | 'prompt_cache_isolation_key';

/**
 * The body for a runtime. It always requests a stream with a token limit and, where the runtime can, with usage,
 * because the reservation and the charge depend on both. `request_id` identifies the request in the runtime's log;
 * the salt separates the prompt caches of organizations.
 * @param more further fields, with the runtime's names
 */
export const requestBody = (
  { fields, always, requestIdField }: Pick<Dialect<BoundField>, 'fields' | 'always' | 'requestIdField'>,
  { containerModel, maxTokens, requestId, cacheSalt, continuousUsage }: BodyFacts,
  prompt: Pick<ChatPrompt, 'messages'> | { prompt: TextPrompt['texts'] | TextPrompt['texts'][number] },
  more: Record<string, unknown> = {},
): Record<string, unknown> => {
  const body: Record<string, unknown> = { model: containerModel, ...prompt };
  const put = (field: BoundField, value: unknown): void => {
    const key = sentAs(field, fields[field]);
    if (key !== undefined) body[key] = value;
  };
  put('max_completion_tokens', maxTokens);
  put('prompt_cache_isolation_key', cacheSalt);
  Object.assign(body, more, always);
  if (continuousUsage) body.stream_options = { include_usage: true, continuous_usage_stats: true };
  if (requestIdField !== undefined) body[requestIdField] = requestId;
  return body;
};

/**
 * Salt that a runtime mixes into its prompt cache: an organization never meets another's entries, nor those of another
 * key of its own choice. 64 hexadecimal characters.
 * @param isolationKey the caller's `prompt_cache_isolation_key`
 */
export type CacheSalt = (organizationId: string, isolationKey: string | null | undefined) => string;

const MAX_CACHED_SALTS = 1_000;

export const createCacheSalt = (secret: string): CacheSalt => {
  const key = createSecretKey(secret, 'utf8');
  const salts = new Map<string, string>();
  const saltOf = (organizationId: string, isolationKey: string): string =>
    createHmac('sha256', key).update(`${organizationId}\0${isolationKey}`).digest('hex');
  return (organizationId, isolationKey) => {
    // Keys of the caller's choice are not kept, because each request can have another one.
    if (isolationKey) return saltOf(organizationId, isolationKey);
    let salt = salts.get(organizationId);
    if (salt === undefined) {
      salt = saltOf(organizationId, '');
      if (salts.size === MAX_CACHED_SALTS) salts.clear();
      salts.set(organizationId, salt);
    }
    return salt;
  };
};
