/** English text has about four bytes a token; used for reservations and where an upstream died without saying. */
export const BYTES_PER_TOKEN = 4;

/** Of a request's output, at most this much is reserved out of the tokens-per-minute limit; the settlement corrects it. */
export const MAX_RESERVED_OUTPUT_TOKENS = 4_096;

/** A text's length in tokens, estimated from its bytes. */
export const estimateTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** What a request reserves of the tokens-per-minute limit. */
export const reservedTokens = (request: { promptBytes: number; maxTokens: number; choices: number }): number =>
  estimateTokens(request.promptBytes) + request.choices * Math.min(request.maxTokens, MAX_RESERVED_OUTPUT_TOKENS);
