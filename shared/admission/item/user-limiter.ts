/** The id of the limiter of a key's end user. No index lists it: only the entries of its key name it. */
export const userLimiterId = (keyId: string, userHash: string): string => `${keyId}@${userHash}`;

/** The id of the key to whose end user a limiter belongs. */
export const keyIdOfUserLimiter = (limiterId: string): string => limiterId.split('@', 1)[0] as string;
