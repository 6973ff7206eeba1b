import type { Step } from '../generation/generate.ts';
import { randomHex } from '../reply.ts';
import type { ChatPlan } from './plan.ts';

interface ToolCallDelta {
  index: number;
  id?: string;
  type?: 'function';
  function: { name?: string; arguments: string };
}

/** A piece of an assistant's message, as a stream brings it. */
export interface Delta {
  content?: string;
  reasoning?: string;
  tool_calls?: ToolCallDelta[];
}

/** An assistant's message put together again from its pieces. */
export interface Message {
  content: string;
  reasoning: string;
  toolCalls: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
}

/** A plan in, what turns each step of its answers into deltas out: often one, sometimes none; a call is announced before its arguments. */
export const createDeltas = ({ called, showsReasoning }: ChatPlan): ((step: Step) => Delta[]) => {
  const announced = new Set<string>();
  return ({ choice, channel, text }) => {
    if (channel.kind === 'hidden') return [];
    if (channel.kind !== 'call') return text === '' || (channel.kind === 'reasoning' && !showsReasoning) ? [] : [{ [channel.kind]: text }];
    const { call: index } = channel;
    const piece: Delta[] = text === '' ? [] : [{ tool_calls: [{ index, function: { arguments: text } }] }];
    const key = `${choice} ${index}`;
    if (announced.has(key)) return piece;
    announced.add(key);
    const name = called.calls[index]?.name ?? '';
    const opening: ToolCallDelta = { index, id: `chatcmpl-tool-${randomHex()}`, type: 'function', function: { name, arguments: '' } };
    return [{ tool_calls: [opening] }, ...piece];
  };
};

/** Adds a delta to the message, as a client does. */
export const addDelta = (message: Message, { content = '', reasoning = '', tool_calls: calls = [] }: Delta): void => {
  message.content += content;
  message.reasoning += reasoning;
  for (const {
    index,
    id,
    function: { name, arguments: text },
  } of calls) {
    const call = message.toolCalls[index];
    if (call) call.function.arguments += text;
    else message.toolCalls[index] = { id: id ?? '', type: 'function', function: { name: name ?? '', arguments: text } };
  }
};
