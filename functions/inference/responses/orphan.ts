import type { ConversationItem } from '../../../shared/responses/item.ts';
import { createCallItems } from './tools/tool-calls.ts';

/** The first result without an earlier call: its index in `items`, and the error message. */
export const orphanOf = (
  items: readonly ConversationItem[],
  before: readonly ConversationItem[],
): { index: number; message: string } | undefined => {
  const read = createCallItems();
  const called = new Set<string>();
  for (const [position, item] of [...before, ...items].entries()) {
    const index = position - before.length;
    const call = read.call(item);
    if (call) called.add(call.callId);
    const result = read.result(item);
    if (result && index >= 0 && !called.has(result.callId))
      return { index, message: `no ${result.callType} before it has the call_id '${result.callId}'` };
  }
  return undefined;
};
