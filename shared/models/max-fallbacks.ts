/** The most models that can answer in place of the one that a request names. */
export const MAX_FALLBACKS = 3;
