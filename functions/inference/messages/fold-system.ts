import type { SystemContent, TurnMessage } from './blocks.ts';

/** One or more messages in a row of one side. Those of the user include system messages in the middle. */
export interface Turn {
  role: 'user' | 'assistant';
  messages: { index: number; message: TurnMessage }[];
}

// Claude Code's first block. It can differ in each request, and then no prompt would be a prefix of the next one.
const BILLING_LINE = /^x-anthropic-billing-header:[^\n]*\n*/;

/** The text of a system message, without a line that is only for Anthropic's billing. */
export const systemText = (content: SystemContent): string =>
  content
    .map(({ text }) => text.replace(BILLING_LINE, ''))
    .filter((text) => text !== '')
    .join('\n\n');

/**
 * Separates the system prompt from the turns. System messages at the beginning join the system prompt; later ones
 * belong to the user's turn around them, or after the assistant's: many chat templates accept one system message,
 * first, and a conversation that grows keeps its beginning, which prompt caches need.
 */
export const foldSystem = (
  system: SystemContent | null | undefined,
  messages: readonly TurnMessage[],
): { system: string | undefined; turns: Turn[] } => {
  const texts = system ? [systemText(system)] : [];
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system' && turns.length === 0) {
      texts.push(systemText(message.content));
      continue;
    }
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === role) last.messages.push({ index, message });
    else turns.push({ role, messages: [{ index, message }] });
  }
  const prompt = texts.filter((text) => text !== '').join('\n\n');
  return { system: prompt === '' ? undefined : prompt, turns };
};
