import { createHmac } from 'node:crypto';

/**
 * The salt of a runtime's prompt cache, which separates the entries of organizations, and of isolation keys within an organization. 64 hexadecimal
 * characters.
 * @param isolationKey the caller's `prompt_cache_isolation_key`
 */
export const cacheSalt = (secret: string, organizationId: string, isolationKey: string | null | undefined): string =>
  createHmac('sha256', secret)
    .update(`${organizationId}\0${isolationKey ?? ''}`)
    .digest('hex');
