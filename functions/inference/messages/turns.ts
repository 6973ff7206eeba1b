import type { ToolCall } from '../chat/message.ts';
import { joined, resultText, textOf } from './block-text.ts';
import type { TextualBlock, ToolUse } from './blocks.ts';
import { systemText, type Turn } from './fold-system.ts';

/** Takes a fault: its path within `messages`, and the reason. */
export type ReportFault = (path: (string | number)[], message: string) => void;

/** The assistant's part of a conversation between two parts of the user. */
export interface AssistantTurn {
  text: string;
  reasoning: string;
  calls: ToolCall[];
}

/** The user's part of a conversation between two parts of the assistant. */
export interface UserTurn {
  /** The texts of the results by the ids of their calls. */
  results: ReadonlyMap<string, string>;
  /** The system's text after the results of a turn without other text. */
  afterResults: string;
  text: string;
}

// As many as a chat message can have.
const MAX_CALLS = 128;
const MAX_ID_CHARACTERS = 64;
const shown = (id: string): string => `'${id.slice(0, MAX_ID_CHARACTERS)}'`;

// Clients send an input back that was no JSON; text that isn't a JSON object is for the chat to wrap.
const toCall = ({ id, name, input }: ToolUse): ToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}) },
});

/** Reads the assistant's messages of a turn. @param dropped gets the types of blocks that have no effect */
export const readAssistantTurn = ({ messages }: Turn, dropped: Set<string>, report: ReportFault): AssistantTurn => {
  const turn: AssistantTurn = { text: '', reasoning: '', calls: [] };
  for (const { index, message } of messages) {
    if (message.role !== 'assistant') continue;
    for (const [position, block] of message.content.entries()) {
      if (block.type === 'text') turn.text = joined(turn.text, '\n', block.text);
      else if (block.type === 'thinking') turn.reasoning = joined(turn.reasoning, '\n', block.thinking);
      else if (block.type !== 'tool_use') dropped.add(block.type);
      else if (turn.calls.length === MAX_CALLS)
        report([index, 'content', position], `expected at most ${MAX_CALLS} tool_use blocks in a turn`);
      else if (turn.calls.some(({ id }) => id === block.id))
        report([index, 'content', position, 'id'], `another tool_use of the same turn has the id ${shown(block.id)}`);
      else turn.calls.push(toCall(block));
    }
  }
  return turn;
};

const missingResult = (calls: readonly ToolCall[], results: ReadonlyMap<string, string>): string | undefined =>
  calls.map(({ id }) => id ?? '').find((id) => !results.has(id));

/**
 * Reads the messages of the user and the system between two turns of the assistant. A system message is appended to the
 * text before it, or to the results if there is no text: as a message of its own, templates would take it for the
 * user's next question.
 * @param calls the calls of the assistant's turn before it, which must all have a result
 */
export const readUserTurn = ({ messages }: Turn, calls: readonly ToolCall[], report: ReportFault): UserTurn => {
  const results = new Map<string, string>();
  let before = '';
  let text = '';
  let afterResults = '';
  for (const { index, message } of messages) {
    if (message.role === 'assistant') continue;
    if (message.role === 'system') {
      const said = systemText(message.content);
      if (text) text = joined(text, '\n\n', said);
      else if (results.size > 0) afterResults = joined(afterResults, '\n\n', said);
      else before = joined(before, '\n\n', said);
      continue;
    }
    const textual: TextualBlock[] = [];
    for (const [position, block] of message.content.entries()) {
      if (block.type !== 'tool_result') textual.push(block);
      else if (calls.some(({ id }) => id === block.tool_use_id))
        results.set(block.tool_use_id, joined(results.get(block.tool_use_id), '\n', resultText(block)));
      else
        report(
          [index, 'content', position, 'tool_use_id'],
          `the assistant message before it has no tool_use with the id ${shown(block.tool_use_id)}`,
        );
    }
    text = joined(text, '\n\n', textOf(textual));
  }
  const missing = missingResult(calls, results);
  if (missing !== undefined)
    report([messages[0]?.index ?? 0, 'content'], `expected a tool_result for the tool_use ${shown(missing)} of the message before it`);
  if (text || results.size === 0) return { results, afterResults, text: joined(before, '\n\n', text) };
  return { results, afterResults: joined(before, '\n\n', afterResults), text };
};
