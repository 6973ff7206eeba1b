import type { ConversationItem, MessageItem } from '../../../shared/responses/item.ts';

type Content = MessageItem['content'];

const STATUSES: ReadonlySet<unknown> = new Set(['in_progress', 'completed', 'incomplete']);

const toStoredContent = (content: Content): Content =>
  typeof content === 'string'
    ? content
    : content.map((part) =>
        part.type === 'refusal' ? { type: part.type, refusal: part.refusal as string } : { type: part.type, text: part.text as string },
      );

const toStoredThoughts = <Type extends string>(type: Type, parts: readonly { text: string }[] | null | undefined) =>
  parts?.map(({ text }) => ({ type, text }));

/** An item as it is stored, without unknown fields, which would be read again with each response that follows. */
export const toStoredItem = (item: ConversationItem): ConversationItem => {
  const { id, status } = item;
  const common = { ...(id !== undefined && { id }), ...(STATUSES.has(status) && { status }) };
  switch (item.type) {
    case 'function_call':
      return { type: item.type, ...common, call_id: item.call_id, name: item.name, arguments: item.arguments };
    case 'function_call_output':
      return { type: item.type, ...common, call_id: item.call_id, output: toStoredContent(item.output) };
    case 'reasoning': {
      const summary = toStoredThoughts('summary_text', item.summary);
      const content = toStoredThoughts('reasoning_text', item.content);
      return { type: item.type, ...common, ...(summary && { summary }), ...(content && { content }) };
    }
    default:
      return { ...(item.type && { type: item.type }), ...common, role: item.role, content: toStoredContent(item.content) };
  }
};
