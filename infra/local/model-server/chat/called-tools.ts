import type { Json } from '../constrained/json-schema.ts';
import { smallestInstance } from '../constrained/smallest-instance.ts';
import { textOf } from './prompt.ts';
import type { ChatRequest, Tool } from './request.ts';

/**
 * The tool calls of an answer. `named` is true if the request names the tool; then the finish reason is `stop`, as in
 * vLLM.
 */
export interface CalledTools {
  calls: readonly { name: string; arguments: string }[];
  named: boolean;
}

/**
 * Returns the tool calls of the answer to a request. With `required`, the model calls the first tool; with `auto`,
 * those whose names the user's last message contains. The arguments are the smallest that fit the tool's parameters.
 */
export const calledTools = (body: ChatRequest): CalledTools => {
  const { tools, tool_choice: choice = 'auto' } = body;
  const called = tools && choice ? tools.filter((tool, i) => isCalled(tool, i, choice, body)) : [];
  const kept = body.parallel_tool_calls === false ? called.slice(0, 1) : called;
  return {
    calls: kept.map(({ function: { name, parameters } }) => ({ name, arguments: JSON.stringify(argumentsFor(parameters)) })),
    named: typeof choice === 'object',
  };
};

const argumentsFor = (parameters: { [key: string]: Json } | null | undefined): Json => smallestInstance({ type: 'object', ...parameters });

const isCalled = (
  { function: { name } }: Tool,
  at: number,
  choice: NonNullable<ChatRequest['tool_choice']>,
  body: ChatRequest,
): boolean => {
  if (typeof choice === 'object') return name === choice.function.name;
  if (choice !== 'auto') return choice === 'required' && at === 0;
  const last = body.messages.at(-1);
  return last?.role === 'user' && containsName(textOf(last), name);
};

// As a whole word.
const containsName = (text: string, name: string): boolean => name !== '' && text.split(/[^\w-]+/).includes(name);
