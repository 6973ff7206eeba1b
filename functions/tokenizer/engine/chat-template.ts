import './python-values.ts';
import { Template } from '@huggingface/jinja';
import { TemplateFailed, TemplateRefused } from '../../../shared/tokens/errors.ts';
import type { ChatPrompt, PromptMessage, PromptToolCall } from '../../../shared/tokens/prompt.ts';

/** The texts of special tokens by the names that templates use, such as `bos_token`. */
export type SpecialTokens = Record<string, string>;

/**
 * Renders a prompt as a runtime does before encoding, up to the start of the answer by default.
 * @throws TemplateRefused if the template rejects the prompt, TemplateFailed if rendering fails
 */
export type RenderPrompt = (prompt: ChatPrompt, options?: { addGenerationPrompt?: boolean }) => string;

// The renderer declares these itself and fails when they are declared again.
const RESERVED = new Set(['true', 'false', 'none', 'True', 'False', 'None', 'range', 'namespace', 'raise_exception', 'strftime_now']);

// The renderer's own raise_exception throws the same error as other failures, so a rejection couldn't be distinguished from a broken template.
const REFUSE = 'refuse_prompt';
const refuse = (words: unknown): never => {
  throw new TemplateRefused(String(words));
};

/** Runtimes parse arguments, because templates print them as JSON or iterate over them. Text that is not JSON is left as it is. */
const parseArguments = (text: string): unknown => {
  try {
    return JSON.parse(text || '{}');
  } catch {
    return text;
  }
};

const toTemplateCall = ({ id, type, function: { name, arguments: text } }: PromptToolCall): object => ({
  id,
  type,
  function: { name, arguments: parseArguments(text) },
});

/** A message as vLLM passes it to a template: content is always text, reasoning has both of its names (vllm/entrypoints/chat_utils.py). */
const toTemplateMessage = ({ content, reasoning, tool_calls, ...others }: PromptMessage): object => ({
  ...others,
  content: content ?? '',
  ...(reasoning !== undefined && { reasoning, reasoning_content: reasoning }),
  ...(tool_calls && tool_calls.length > 0 && { tool_calls: tool_calls.map(toTemplateCall) }),
});

/**
 * Parses a chat template in Jinja.
 * @throws Error if it can't be parsed
 */
export const createRenderPrompt = (source: string, specialTokens: SpecialTokens): RenderPrompt => {
  const template = new Template(source.replaceAll(/\braise_exception\b/g, REFUSE));
  return ({ messages, tools, variables = {} }, { addGenerationPrompt = true } = {}) => {
    const own = Object.fromEntries(Object.entries(variables).filter(([name]) => !RESERVED.has(name)));
    try {
      return template.render({
        ...specialTokens,
        ...own,
        [REFUSE]: refuse,
        messages: messages.map(toTemplateMessage),
        tools: tools ?? null,
        documents: null,
        add_generation_prompt: addGenerationPrompt,
      });
    } catch (error) {
      throw error instanceof TemplateRefused ? error : new TemplateFailed(error);
    }
  };
};
