import type {
  ItemStatus,
  OpenItem,
  OutputCall,
  OutputCustomCall,
  OutputLocalShellCall,
  OutputToolSearchCall,
} from '../../../../shared/responses/output-item.ts';
import { isJsonObject } from '../../chat/json-object.ts';
import { createCustomInput } from './custom-input.ts';
import { added, done } from './item-events.ts';
import type { NamedTool, ToolKind } from './tool-kinds.ts';

/** The prefixes of the ids of calls. */
export const callIdKinds = {
  function: 'functionCall',
  custom: 'customToolCall',
  tool_search: 'toolSearchCall',
  local_shell: 'localShellCall',
} as const satisfies Record<ToolKind, string>;

type Opening = (id: string, index: number, tool: NamedTool, callId: string) => OpenItem;

const openFunctionCall: Opening = (id, index, { name, namespace }, callId) => {
  const item: OutputCall = {
    id,
    type: 'function_call',
    status: 'in_progress',
    call_id: callId,
    name,
    ...(namespace !== undefined && { namespace }),
    arguments: '',
  };
  const at = { item_id: id, output_index: index };
  const add = (text: string) => {
    item.arguments += text;
    return text ? [{ type: 'response.function_call_arguments.delta' as const, ...at, delta: text }] : [];
  };
  return {
    item,
    begin: () => [added(index, item)],
    add,
    finish: (status) => {
      item.status = status;
      // Clients parse arguments as JSON, and runtimes send none for a call without arguments.
      const rest = status === 'completed' && item.arguments.trim() === '' ? add('{}') : [];
      return [
        ...rest,
        { type: 'response.function_call_arguments.done', ...at, name: item.name, arguments: item.arguments },
        done(index, item),
      ];
    },
  };
};

const openCustomCall: Opening = (id, index, { name, namespace }, callId) => {
  const item: OutputCustomCall = {
    id,
    type: 'custom_tool_call',
    status: 'in_progress',
    call_id: callId,
    name,
    ...(namespace !== undefined && { namespace }),
    input: '',
  };
  const at = { item_id: id, output_index: index };
  const input = createCustomInput();
  const write = (delta: string) => {
    item.input += delta;
    return delta ? [{ type: 'response.custom_tool_call_input.delta' as const, ...at, delta }] : [];
  };
  return {
    item,
    begin: () => [added(index, item)],
    add: (text) => write(input.take(text)),
    finish: (status) => {
      const rest = write(input.end());
      item.status = status;
      return [...rest, { type: 'response.custom_tool_call_input.done', ...at, input: item.input }, done(index, item)];
    },
  };
};

// Arguments that are not an object are passed under `_raw`, as in a prompt.
const objectOf = (text: string): Record<string, unknown> => {
  if (text.trim() === '') return {};
  return isJsonObject(text) ? JSON.parse(text) : { _raw: text };
};

// Neither has events for its arguments, which are complete only at the end.
const openWhole = <Item extends OutputToolSearchCall | OutputLocalShellCall>(
  index: number,
  item: Item,
  complete: (args: Record<string, unknown>) => void,
): OpenItem => {
  let text = '';
  return {
    item,
    begin: () => [added(index, item)],
    add: (part) => {
      text += part;
      return [];
    },
    finish: (status: ItemStatus) => {
      complete(objectOf(text));
      item.status = status;
      return [done(index, item)];
    },
  };
};

const openToolSearch: Opening = (id, index, _, callId) => {
  const item: OutputToolSearchCall = {
    id,
    type: 'tool_search_call',
    status: 'in_progress',
    call_id: callId,
    execution: 'client',
    arguments: {},
  };
  return openWhole(index, item, (args) => {
    item.arguments = args;
  });
};

const isText = (value: unknown): value is string => typeof value === 'string';

const actionOf = ({ command, timeout_ms, working_directory, env, user }: Record<string, unknown>): OutputLocalShellCall['action'] => ({
  type: 'exec',
  command: Array.isArray(command) ? command.filter(isText) : [],
  timeout_ms: Number.isSafeInteger(timeout_ms) && (timeout_ms as number) >= 0 ? (timeout_ms as number) : null,
  working_directory: isText(working_directory) ? working_directory : null,
  env: Object.fromEntries(Object.entries(env ?? {}).filter(([, value]) => isText(value))) as Record<string, string>,
  user: isText(user) ? user : null,
});

const openLocalShell: Opening = (id, index, _, callId) => {
  const item: OutputLocalShellCall = { id, type: 'local_shell_call', status: 'in_progress', call_id: callId, action: actionOf({}) };
  return openWhole(index, item, (args) => {
    item.action = actionOf(args);
  });
};

const openings: Readonly<Record<ToolKind, Opening>> = {
  function: openFunctionCall,
  custom: openCustomCall,
  tool_search: openToolSearch,
  local_shell: openLocalShell,
};

/** A call of a tool, as an item of the tool's kind with the names that its client knows. */
export const openToolCall: Opening = (id, index, tool, callId) => openings[tool.kind](id, index, tool, callId);
