import { createHash } from 'node:crypto';

/** Returns the id of a row in the table `attempts`. */
export const rowId = (...parts: readonly string[]): string => parts.join('#');

/** Hashes an account, such as an email address, for a row's id. */
export const hashOf = (account: string): string => createHash('sha256').update(account).digest('base64url');
