import type { Message, ToolCall } from './message.ts';

interface MessageFault {
  path: (string | number)[];
  message: string;
}

/** The tool calls of an assistant message; the deprecated `function_call` is converted to one. */
export const callsOf = ({ tool_calls, function_call }: Message): ToolCall[] =>
  tool_calls?.length ? tool_calls : function_call ? [{ type: 'function', function: function_call }] : [];

interface OpenCalls {
  calls: ToolCall[];
  // Null until the call takes the id of its result.
  ids: (string | null)[];
}

const positionOf = ({ role, name, tool_call_id }: Message, { calls, ids }: OpenCalls): number => {
  if (role === 'function')
    return Math.max(
      0,
      calls.findIndex((call) => call.function.name === name),
    );
  if (!tool_call_id) return calls.length === 1 ? 0 : -1;
  const known = ids.indexOf(tool_call_id);
  return known >= 0 ? known : ids.indexOf(null);
};

const faultOf = ({ role, tool_call_id }: Message, index: number, { calls }: OpenCalls): MessageFault => {
  const fault = (field: string, message: string): MessageFault => ({ path: ['messages', index, field], message });
  if (calls.length === 0) return fault('role', `a '${role}' message must follow the assistant message that made the call`);
  if (!tool_call_id)
    return fault('tool_call_id', `expected the id of a tool call: the preceding assistant message makes ${calls.length} calls`);
  return fault('tool_call_id', 'the preceding assistant message makes no call with this id');
};

// Tool calls matched with their results: each pair shares an id.
interface PairedCalls {
  // The ids of each assistant message's calls, by the index of the message.
  callIds: ReadonlyMap<number, readonly string[]>;
  // The id of the call that each result answers, by the index of its message.
  resultIds: ReadonlyMap<number, string>;
  // The first message in an order that chat templates can't render.
  fault: MessageFault | undefined;
}

const NO_CALLS: PairedCalls = { callIds: new Map(), resultIds: new Map(), fault: undefined };

const hasCalls = ({ role, tool_calls, function_call }: Message): boolean =>
  role === 'tool' || role === 'function' || (tool_calls ?? function_call) != null;

/**
 * Matches tool calls with their results. A result must follow the assistant message with its call, before the next
 * assistant or user message. A call without an id takes its result's or a generated one; a result without an id answers
 * the message's only call.
 */
export const pairCalls = (messages: readonly Message[]): PairedCalls => {
  if (!messages.some(hasCalls)) return NO_CALLS;
  const turns = new Map<number, OpenCalls>();
  const results = new Map<number, { turn: OpenCalls; position: number }>();
  let turn: OpenCalls = { calls: [], ids: [] };
  let fault: MessageFault | undefined;
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') {
      const calls = callsOf(message);
      turn = { calls, ids: calls.map(({ id }) => id || null) };
      turns.set(index, turn);
    } else if (message.role === 'user') turn = { calls: [], ids: [] };
    else if (message.role === 'tool' || message.role === 'function') {
      const position = turn.calls.length > 0 ? positionOf(message, turn) : -1;
      if (position < 0) fault ??= faultOf(message, index, turn);
      else {
        turn.ids[position] ??= message.tool_call_id || null;
        results.set(index, { turn, position });
      }
    }
  }
  const idsOf = (index: number, { ids }: OpenCalls): string[] => ids.map((id, position) => id ?? `call_${index}_${position}`);
  const callIds = new Map([...turns].map(([index, open]) => [index, idsOf(index, open)]));
  const indexOf = new Map([...turns].map(([index, open]) => [open, index]));
  const resultIds = new Map(
    [...results].map(([index, { turn: open, position }]) => [index, callIds.get(indexOf.get(open) ?? -1)?.[position] ?? '']),
  );
  return { callIds, resultIds, fault };
};
