import type { Step } from '../generation/generate.ts';
import { randomHex } from '../replies/reply.ts';
import type { ChatPlan } from './plan.ts';

interface ToolCallDelta {
  index: number;
  id?: string;
  type?: 'function';
  function: { name?: string; arguments: string };
}

/** A part of the assistant's message in a stream. */
export interface Delta {
  content?: string;
  reasoning?: string;
  tool_calls?: ToolCallDelta[];
}

/** The assistant's message, collected from its deltas. */
export interface Message {
  content: string;
  reasoning: string;
  toolCalls: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
}

/**
 * Returns a function that turns each step into deltas. The first delta of a tool call has its id and name, the others
 * its arguments.
 */
export const createDeltas = ({ called, showsReasoning }: ChatPlan): ((step: Step) => Delta[]) => {
  const started = new Set<string>();
  return ({ choice, channel, text }) => {
    if (channel.kind === 'hidden') return [];
    if (channel.kind !== 'call') return text === '' || (channel.kind === 'reasoning' && !showsReasoning) ? [] : [{ [channel.kind]: text }];
    const { call: index } = channel;
    const deltas: Delta[] = text === '' ? [] : [{ tool_calls: [{ index, function: { arguments: text } }] }];
    const key = `${choice} ${index}`;
    if (started.has(key)) return deltas;
    started.add(key);
    const name = called.calls[index]?.name ?? '';
    const opening: ToolCallDelta = { index, id: `chatcmpl-tool-${randomHex()}`, type: 'function', function: { name, arguments: '' } };
    return [{ tool_calls: [opening] }, ...deltas];
  };
};

/** Appends a delta to the message. */
export const addDelta = (message: Message, { content = '', reasoning = '', tool_calls: calls = [] }: Delta): void => {
  message.content += content;
  message.reasoning += reasoning;
  for (const { index, id, function: part } of calls) {
    const call = message.toolCalls[index];
    if (call) call.function.arguments += part.arguments;
    else message.toolCalls[index] = { id: id ?? '', type: 'function', function: { name: part.name ?? '', arguments: part.arguments } };
  }
};
