import type { ChatPrompt, PromptMessage, PromptToolCall } from '../../../shared/tokens/prompt.ts';
import { parseJson } from '../jinja/json.ts';
import type { Dict, Value } from '../jinja/values.ts';
import type { ContentFormat } from './content-format.ts';

// The order of the keys is that of vLLM's types, because templates print whole objects with `tojson`.

/** A value from JSON that our own code has parsed; numbers are ints where JavaScript can't tell. */
export const toValue = (value: unknown): Value => parseJson(JSON.stringify(value ?? null));

// Runtimes parse arguments, because templates print them as JSON or iterate over them. Text that is no JSON object
// becomes an empty one.
const parseArguments = (text: string): Value => {
  try {
    const value = parseJson(text || '{}');
    return value instanceof Map ? value : new Map();
  } catch {
    return new Map();
  }
};

const toTemplateCall = ({ id, type, function: { name, arguments: text } }: PromptToolCall): Dict =>
  new Map<string, Value>([
    ['id', id],
    [
      'function',
      new Map<string, Value>([
        ['arguments', parseArguments(text)],
        ['name', name],
      ]),
    ],
    ['type', type],
  ]);

// Results of tools are always text, and a message without content has an empty text or no parts.
const toContent = ({ role, content }: PromptMessage, format: ContentFormat): Value => {
  if (format === 'string' || role === 'tool') return content ?? '';
  if (content === null) return [];
  return [
    new Map<string, Value>([
      ['type', 'text'],
      ['text', content],
    ]),
  ];
};

/** A message as vLLM passes it to a template: reasoning has both of its names (vllm/renderers/chat_utils.py). */
export const toTemplateMessage = (message: PromptMessage, format: ContentFormat): Dict => {
  const { role, reasoning, tool_calls, tool_call_id, name } = message;
  const dict = new Map<string, Value>([
    ['role', role],
    ['content', toContent(message, format)],
  ]);
  if (tool_calls && tool_calls.length > 0) dict.set('tool_calls', tool_calls.map(toTemplateCall));
  if (reasoning !== undefined) dict.set('reasoning', reasoning).set('reasoning_content', reasoning);
  if (tool_call_id !== undefined) dict.set('tool_call_id', tool_call_id);
  if (name !== undefined) dict.set('name', name);
  return dict;
};

/** The tools of a prompt; null without tools. */
export const toTemplateTools = (tools: ChatPrompt['tools']): Value => (tools === undefined ? null : parseJson(tools));
