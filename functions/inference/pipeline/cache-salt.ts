import { createHmac } from 'node:crypto';

/**
 * What a runtime mixes into its prompt cache: an organization never meets another's entries, nor those of another key of its own choice. 64
 * hexadecimal characters.
 * @param isolationKey the caller's `prompt_cache_isolation_key`
 */
export const cacheSalt = (secret: string, organizationId: string, isolationKey: string | null | undefined): string =>
  createHmac('sha256', secret)
    .update(`${organizationId}\0${isolationKey ?? ''}`)
    .digest('hex');
