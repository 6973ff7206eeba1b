import { TemplateRefused } from '../../../shared/tokens/errors.ts';
import type { PromptMessage } from '../../../shared/tokens/prompt.ts';
import { stripEnd } from '../jinja/text.ts';

// Some templates look for this text themselves, so it must be the one of transformers.
const END = 'CONTINUE_FINAL_MESSAGE_TAG ';

/** The same messages with a mark at the end of the last one, where the answer continues. */
export const withEndMark = (messages: readonly PromptMessage[]): PromptMessage[] =>
  messages.map((message, index) => (index === messages.length - 1 ? { ...message, content: (message.content ?? '') + END } : message));

/**
 * Cuts a rendered prompt at the mark, as transformers does (`continue_final_message` in utils/chat_template_utils.py):
 * a template that strips the message also gets the text before the mark stripped.
 * @throws TemplateRefused if the template left the end of the last message out
 */
export const cutAtEndMark = (rendered: string): string => {
  const at = rendered.lastIndexOf(stripEnd(END));
  if (at < 0) throw new TemplateRefused('it leaves out the end of the last message, which can therefore not be continued');
  return rendered.startsWith(END, at) ? rendered.slice(0, at) : stripEnd(rendered.slice(0, at));
};
