import { TemplateFailed, TemplateRefused } from '../../../shared/tokens/errors.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';
import { MAX_STEPS, TooManySteps } from '../jinja/budget.ts';
import { parseTemplate } from '../jinja/nodes.ts';
import { createTemplate, RaisedByTemplate } from '../jinja/template.ts';
import { detectContentFormat } from './content-format.ts';
import { cutAtEndMark, withEndMark } from './continued-prompt.ts';
import { toTemplateMessage, toTemplateTools, toValue } from './template-input.ts';

/** The texts of special tokens by the names that templates use, such as `bos_token`. */
export type SpecialTokens = Record<string, string>;

/**
 * Renders a prompt as a runtime does before encoding: up to the start of the answer by default, or up to the end of the
 * message that the answer continues.
 * @throws TemplateRefused if the template rejects the prompt, TemplateFailed if rendering fails
 */
export type RenderPrompt = (prompt: ChatPrompt, options?: { addGenerationPrompt?: boolean }) => string;

const TOO_MANY_STEPS = `it needs more than ${MAX_STEPS.toLocaleString('en-US')} steps to render them. Send fewer messages, or ask your administrator for a simpler template.`;

// Names of the language, which variables of a request can't replace.
const RESERVED = new Set(['range', 'namespace', 'dict', 'raise_exception', 'strftime_now']);

/**
 * Parses a chat template in Jinja. It renders as vLLM renders it.
 * @throws Error if it can't be parsed, or has a construct that can't be rendered as Jinja does
 */
export const createRenderPrompt = (source: string, specialTokens: SpecialTokens): RenderPrompt => {
  const parsed = parseTemplate(source);
  const contentFormat = detectContentFormat(parsed);
  const render = createTemplate(parsed);
  const renderAll: RenderPrompt = ({ messages, tools, variables = {} }, { addGenerationPrompt = true } = {}) => {
    const own = Object.entries(variables).filter(([name]) => !RESERVED.has(name));
    try {
      return render([
        ...Object.entries(specialTokens),
        ...own.map(([name, value]) => [name, toValue(value)] as const),
        ['messages', messages.map((message) => toTemplateMessage(message, contentFormat))],
        ['tools', toTemplateTools(tools)],
        ['documents', null],
        ['add_generation_prompt', addGenerationPrompt],
      ]);
    } catch (error) {
      if (error instanceof RaisedByTemplate) throw new TemplateRefused(error.message);
      throw error instanceof TooManySteps ? new TemplateFailed(error, TOO_MANY_STEPS) : new TemplateFailed(error);
    }
  };
  return (prompt, options) =>
    prompt.continues
      ? cutAtEndMark(renderAll({ ...prompt, messages: withEndMark(prompt.messages) }, { addGenerationPrompt: false }))
      : renderAll(prompt, options);
};
