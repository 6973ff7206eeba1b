import type { Content } from '../../../shared/responses/content.ts';
import type { ConversationItem } from '../../../shared/responses/item.ts';
import { openSealed } from './tools/compaction.ts';

const STATUSES: ReadonlySet<unknown> = new Set(['in_progress', 'completed', 'incomplete']);

const toStoredContent = (content: Content): Content =>
  typeof content === 'string'
    ? content
    : content.map((part) =>
        part.type === 'refusal' ? { type: part.type, refusal: part.refusal as string } : { type: part.type, text: part.text as string },
      );

const toStoredThoughts = <Type extends string>(type: Type, parts: readonly { text: string }[] | null | undefined) =>
  parts?.map(({ text }) => ({ type, text }));

const given = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as Fields;

/** An item as it is stored, without unknown fields, which would be read again with each response that follows. */
export const toStoredItem = (item: ConversationItem): ConversationItem => {
  const { id, status } = item;
  const common = { ...(id !== undefined && { id }), ...(STATUSES.has(status) && { status }) };
  switch (item.type) {
    case 'function_call': {
      const { type, call_id, name, namespace, arguments: text } = item;
      return { type, ...common, call_id, name, ...given({ namespace }), arguments: text };
    }
    case 'custom_tool_call': {
      const { type, call_id, name, namespace, input } = item;
      return { type, ...common, call_id, name, ...given({ namespace }), input };
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { type: item.type, ...common, call_id: item.call_id, output: toStoredContent(item.output) };
    case 'local_shell_call_output':
      return { type: item.type, ...common, ...given({ call_id: item.call_id }), output: toStoredContent(item.output) };
    case 'local_shell_call': {
      const { command, timeout_ms, working_directory, env, user } = item.action;
      const action = { type: item.action.type, command, ...given({ timeout_ms, working_directory, env, user }) };
      return { type: item.type, ...common, ...given({ call_id: item.call_id }), action };
    }
    case 'tool_search_call':
      return { type: item.type, ...common, ...given({ call_id: item.call_id, execution: item.execution }), arguments: item.arguments };
    case 'tool_search_output':
      return { type: item.type, ...common, ...given({ call_id: item.call_id, execution: item.execution }), tools: item.tools };
    case 'additional_tools':
      return { type: item.type, ...common, ...given({ role: item.role }), tools: item.tools };
    case 'compaction':
    case 'compaction_summary':
    case 'context_compaction':
      return { type: item.type, ...common, encrypted_content: item.encrypted_content };
    case 'agent_message': {
      const content = item.content.map((part) =>
        part.type === 'input_text'
          ? { type: part.type, text: part.text as string }
          : { type: part.type, encrypted_content: part.encrypted_content as string },
      );
      return { type: item.type, ...common, author: item.author, recipient: item.recipient, content };
    }
    case 'reasoning': {
      const summary = toStoredThoughts('summary_text', item.summary);
      const content = toStoredThoughts('reasoning_text', item.content);
      // The text of another service can't be read.
      const encrypted_content = content?.length || openSealed(item.encrypted_content) === undefined ? undefined : item.encrypted_content;
      return { type: item.type, ...common, ...(summary && { summary }), ...(content && { content }), ...given({ encrypted_content }) };
    }
    case 'message':
    case undefined:
      return { ...(item.type && { type: item.type }), ...common, role: item.role, content: toStoredContent(item.content) };
    default:
      return { type: item.type, ...common };
  }
};
