/** English text has about four bytes per token; used for reservations, and if an upstream sent no count. */
export const BYTES_PER_TOKEN = 4;

/** The most output tokens per choice to reserve from the tokens-per-minute limit; the settlement corrects the amount. */
export const MAX_RESERVED_OUTPUT_TOKENS = 4_096;

/** Estimates a text's length in tokens from its bytes. */
export const estimateTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** The tokens that a request reserves from the tokens-per-minute limit. */
export const reservedTokens = (request: { promptBytes: number; maxTokens: number; choices: number }): number =>
  estimateTokens(request.promptBytes) + request.choices * Math.min(request.maxTokens, MAX_RESERVED_OUTPUT_TOKENS);
