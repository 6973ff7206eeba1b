import { tokenCount } from '../../../shared/upstream/chunk.ts';

/** The usage in a reply of vLLM, which is not checked. */
export type VllmUsage = { prompt_tokens?: unknown } | null | undefined;

/** The tokens that vLLM counted; undefined if it did not. */
export const reportedTokens = (usage: VllmUsage): number | undefined => tokenCount(usage?.prompt_tokens);
