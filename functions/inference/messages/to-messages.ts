import type { Message, ToolCall } from '../chat/message.ts';
import { joined } from './block-text.ts';
import type { SystemContent, TurnMessage } from './blocks.ts';
import { foldSystem, type Turn } from './fold-system.ts';
import { type AssistantTurn, type ReportFault, readAssistantTurn, readUserTurn, type UserTurn } from './turns.ts';

interface MessageFault {
  path: (string | number)[];
  message: string;
}

/** A conversation as chat messages. */
export interface Conversation {
  messages: Message[];
  /** The answer continues the last message, which is the assistant's. */
  continues: boolean;
  /** The types of blocks that have no effect. */
  dropped: ReadonlySet<string>;
}

const addAssistant = (messages: Message[], { text, reasoning, calls }: AssistantTurn): void => {
  // A turn that ended during reasoning has no output.
  if (text === '' && calls.length === 0) return;
  const withCalls = calls.length > 0 && { tool_calls: calls };
  const last = messages.at(-1);
  // The user's turn between them was empty.
  if (last?.role === 'assistant') Object.assign(last, { content: joined(last.content as string, '\n', text), ...withCalls });
  else messages.push({ role: 'assistant', content: text || null, ...(reasoning && { reasoning }), ...withCalls });
};

const addUser = (messages: Message[], { results, afterResults, text }: UserTurn, calls: readonly ToolCall[]): void => {
  for (const { id } of calls) messages.push({ role: 'tool', content: results.get(id ?? '') ?? '', tool_call_id: id });
  const last = messages.at(-1);
  if (last?.role === 'tool') last.content = joined(last.content as string, '\n\n', afterResults);
  // The assistant's turn between them was empty.
  if (last?.role === 'user') last.content = joined(last.content as string, '\n\n', text);
  else if (text) messages.push({ role: 'user', content: text });
};

const checkEnd = (messages: readonly Message[], turns: readonly Turn[], report: ReportFault): void => {
  const last = messages.at(-1);
  const turn = turns.at(-1);
  const index = turn?.messages.at(-1)?.index ?? 0;
  if (!last || last.role === 'system') report([], 'expected at least one message of the user with text');
  else if (last.role !== 'assistant') return;
  else if (turn?.role === 'user') report([index, 'content'], 'expected text: the last message must not be empty');
  else if (last.tool_calls) report([index, 'content'], 'a tool_use needs a user message after it with its tool_result');
};

/**
 * Converts a conversation to chat messages: at most one system message, at the beginning; results directly after their
 * calls and in their order; never two messages of one side in a row. A conversation that goes on only adds messages.
 * @returns instead the first fault: a call without a result, a result without a call, or nothing to answer
 */
export const toChatMessages = (
  system: SystemContent | null | undefined,
  conversation: readonly TurnMessage[],
): Conversation | { fault: MessageFault } => {
  const { system: prompt, turns } = foldSystem(system, conversation);
  const messages: Message[] = prompt === undefined ? [] : [{ role: 'system', content: prompt }];
  const dropped = new Set<string>();
  let fault: MessageFault | undefined;
  const report: ReportFault = (path, message) => {
    fault ??= { path: ['messages', ...path], message };
  };
  let calls: readonly ToolCall[] = [];
  for (const turn of turns)
    if (turn.role === 'assistant') {
      const read = readAssistantTurn(turn, dropped, report);
      addAssistant(messages, read);
      ({ calls } = read);
    } else {
      addUser(messages, readUserTurn(turn, calls, report), calls);
      calls = [];
    }
  checkEnd(messages, turns, report);
  return fault ? { fault } : { messages, continues: messages.at(-1)?.role === 'assistant', dropped };
};
