import type { ConversationItem } from '../../../shared/responses/item.ts';

/** The first result without an earlier call: its index in `items`, and the error message. */
export const orphanOf = (
  items: readonly ConversationItem[],
  before: readonly ConversationItem[],
): { index: number; message: string } | undefined => {
  const called = new Set<string>();
  for (const item of before) if (item.type === 'function_call') called.add(item.call_id);
  for (const [index, item] of items.entries()) {
    if (item.type === 'function_call') called.add(item.call_id);
    else if (item.type === 'function_call_output' && !called.has(item.call_id))
      return { index, message: `no function_call before it has the call_id '${item.call_id}'` };
  }
  return undefined;
};
