import type { Content } from '../../../../shared/responses/content.ts';
import type { ConversationItem } from '../../../../shared/responses/item.ts';
import { flatten } from './flatten.ts';
import { type NamedTool, parseTools, type ResponseTool } from './tool-kinds.ts';
import type { ToolNames } from './tool-names.ts';

/** A call of a tool in a conversation. */
export interface ItemCall {
  callId: string;
  tool: NamedTool;
  /** JSON, as the call of a function has it. */
  arguments: string;
}

/** The result of a call in a conversation. */
export interface ItemResult {
  callId: string;
  /** The type of its call. A result may answer a call of another type. */
  callType: string;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? {}));

const withoutNulls = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/**
 * Reads the calls and results of a conversation, whose items come in order. A search without an id belongs to the
 * result without an id in the same position; the result of a shell can name its call by the id of the item.
 */
export const createCallItems = () => {
  let searches = 0;
  let searchResults = 0;
  const shellCalls = new Map<string, string>();
  return {
    call: (item: ConversationItem): ItemCall | undefined => {
      switch (item.type) {
        case 'function_call': {
          const tool: NamedTool = { kind: 'function', name: item.name, namespace: item.namespace ?? undefined };
          return { callId: item.call_id, tool, arguments: item.arguments };
        }
        case 'custom_tool_call': {
          const tool: NamedTool = { kind: 'custom', name: item.name, namespace: item.namespace ?? undefined };
          return { callId: item.call_id, tool, arguments: JSON.stringify({ input: item.input }) };
        }
        case 'tool_search_call': {
          const tool: NamedTool = { kind: 'tool_search', name: 'tool_search' };
          return { callId: item.call_id ?? `search_${searches++}`, tool, arguments: textOf(item.arguments) };
        }
        case 'local_shell_call': {
          const { type: _, ...action } = item.action;
          const callId = item.call_id ?? item.id ?? 'local_shell';
          if (item.id) shellCalls.set(item.id, callId);
          return { callId, tool: { kind: 'local_shell', name: 'local_shell' }, arguments: JSON.stringify(withoutNulls(action)) };
        }
        default:
          return undefined;
      }
    },
    result: (item: ConversationItem): ItemResult | undefined => {
      switch (item.type) {
        case 'function_call_output':
          return { callId: item.call_id, callType: 'function_call' };
        case 'custom_tool_call_output':
          return { callId: item.call_id, callType: 'custom_tool_call' };
        case 'tool_search_output':
          return { callId: item.call_id ?? `search_${searchResults++}`, callType: 'tool_search_call' };
        case 'local_shell_call_output': {
          const named = item.call_id ?? item.id ?? 'local_shell';
          return { callId: shellCalls.get(named) ?? named, callType: 'local_shell_call' };
        }
        default:
          return undefined;
      }
    },
  };
};

/** The text that the model gets as the result of a call: of a search, the names and descriptions of the tools. */
export const outputOf = (item: ConversationItem, names: Pick<ToolNames, 'encode'>): Content => {
  if (item.type === 'tool_search_output') {
    const tools = flatten(parseTools(item.tools));
    return JSON.stringify(tools.map(({ named, definition }) => ({ name: names.encode(named), description: definition.description })));
  }
  return 'output' in item ? (item.output as Content) : '';
};

/** The tools that items of the input add to those of the request. */
export const loadedTools = (items: readonly ConversationItem[]): ResponseTool[] =>
  items.flatMap((item) => (item.type === 'tool_search_output' || item.type === 'additional_tools' ? parseTools(item.tools) : []));
