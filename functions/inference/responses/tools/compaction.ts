import type { ConversationItem, ItemReference } from '../../../../shared/responses/item.ts';

/** The message that asks the model to sum up the conversation before it. */
export const SUMMARY_REQUEST = `Write a summary of the conversation so far. It replaces the conversation: whoever continues the work sees only the summary.
State what the user asked for, in their words where they matter; the decisions and the facts that were found, with the exact names of files, functions and commands; what has been done, and what failed; and what is still to do, with the next step.
Write only the summary. Call no tools.`;

const SEAL = 'sluice.1.';

/**
 * Text as a client keeps and returns it in `encrypted_content`. It is encoded, not encrypted: clients get the same text
 * in plain, and may change what they send.
 */
export const sealText = (text: string): string => SEAL + Buffer.from(text).toString('base64url');

/** The text that was sealed; undefined for content of another service. */
export const openSealed = (sealed: string | null | undefined): string | undefined =>
  sealed?.startsWith(SEAL) ? Buffer.from(sealed.slice(SEAL.length), 'base64url').toString() : undefined;

type Compaction = Extract<
  ConversationItem,
  { encrypted_content?: unknown; type: 'compaction' | 'context_compaction' | 'compaction_summary' }
>;

/** True for an item that has a summary instead of the conversation before it. */
export const isCompaction = (item: ConversationItem | ItemReference): item is Compaction =>
  item.type === 'compaction' || item.type === 'compaction_summary' || item.type === 'context_compaction';

/** The message that a summary becomes. */
export const summaryMessage = (summary: string): string => `Summary of the conversation so far:\n\n${summary}`;
