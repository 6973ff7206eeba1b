/** The id of the limiter of a key's end user. No index lists it: only the entries of its key name it. */
export const userLimiterId = (keyId: string, userHash: string): string => `${keyId}@${userHash}`;
