import type { Content } from '../../../shared/responses/content.ts';
import type { ConversationItem } from '../../../shared/responses/item.ts';
import type { Message } from '../chat/message.ts';
import { isCompaction, openSealed, SUMMARY_REQUEST, summaryMessage } from './tools/compaction.ts';
import { createCallItems, outputOf } from './tools/tool-calls.ts';
import type { ToolNames } from './tools/tool-names.ts';

type Part = Exclude<Content, string>[number];

const textOfPart = (part: Part): string =>
  part.type === 'refusal' ? (part as { refusal: string }).refusal : (part as { text: string }).text;

// As in a chat message.
const textOf = (content: Content): string => (typeof content === 'string' ? content : content.map(textOfPart).join('\n'));

const joined = (one: string | undefined, other: string): string => (one ? `${one}\n${other}` : other);

// The results of the calls follow the turn.
interface Turn {
  reasoning?: string;
  text?: string;
  calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  results: Message[];
}

const toTurnMessages = ({ reasoning, text, calls, results }: Turn): Message[] =>
  // A turn that ended during reasoning has no output.
  text === undefined && calls.length === 0
    ? []
    : [
        { role: 'assistant', content: text ?? null, ...(reasoning && { reasoning }), ...(calls.length > 0 && { tool_calls: calls }) },
        ...results,
      ];

// Many chat templates accept only one system message, at the beginning.
const mergeSystem = (messages: Message[]): Message[] => {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const count = first < 0 ? messages.length : first;
  if (count < 2) return messages;
  const content = messages.slice(0, count).map((message) => message.content as string);
  return [{ role: 'system', content: content.join('\n\n') }, ...messages.slice(count)];
};

type Reasoning = Extract<ConversationItem, { type: 'reasoning' }>;

// Some clients replay only `encrypted_content`.
const thoughtOf = ({ content, summary, encrypted_content }: Reasoning): string => {
  if (content?.length) return content.map(({ text }) => text).join('\n');
  return openSealed(encrypted_content) ?? (summary ?? []).map(({ text }) => text).join('\n');
};

type AgentMessage = Extract<ConversationItem, { type: 'agent_message' }>;

const agentMessage = ({ author, recipient, content }: AgentMessage): string => {
  const parts = content.map((part) => (part.type === 'input_text' ? part.text : part.encrypted_content));
  return `Message from ${author} to ${recipient}:\n${(parts as string[]).join('\n')}`;
};

// The messages that are neither output of the model nor results.
const messageOf = (item: ConversationItem): Message | undefined => {
  if (isCompaction(item)) return { role: 'user', content: summaryMessage(openSealed(item.encrypted_content) ?? '') };
  if (item.type === 'compaction_trigger') return { role: 'user', content: SUMMARY_REQUEST };
  if (item.type === 'agent_message') return { role: 'user', content: agentMessage(item) };
  if (item.type !== 'message' && item.type !== undefined) return undefined;
  return { role: item.role === 'user' ? 'user' : 'system', content: textOf(item.content) };
};

/**
 * Converts items to chat messages. Each turn of the model becomes one message with its reasoning, text and calls. Each
 * result follows the message with its call, wherever the caller has put it. Items that a model can't read are left out.
 */
export const toMessages = (
  items: readonly ConversationItem[],
  instructions: string | null | undefined,
  names: Pick<ToolNames, 'encode'>,
): Message[] => {
  const entries: (Message | Turn)[] = instructions ? [{ role: 'system', content: instructions }] : [];
  const read = createCallItems();
  const turnOfCall = new Map<string, Turn>();
  let open: Turn | undefined;
  const openTurn = (): Turn => {
    if (open) return open;
    open = { calls: [], results: [] };
    entries.push(open);
    return open;
  };
  // Output after the text is a new turn, unless the turn has calls.
  const endTurnWithText = (): void => {
    if (open?.text !== undefined && open.calls.length === 0) open = undefined;
  };
  for (const item of items) {
    const call = read.call(item);
    const result = read.result(item);
    if (call) {
      const turn = openTurn();
      turn.calls.push({ id: call.callId, type: 'function', function: { name: names.encode(call.tool), arguments: call.arguments } });
      turnOfCall.set(call.callId, turn);
    } else if (result) {
      const content = textOf(outputOf(item, names));
      turnOfCall.get(result.callId)?.results.push({ role: 'tool', content, tool_call_id: result.callId });
      open = undefined;
    } else if (item.type === 'reasoning') {
      endTurnWithText();
      const turn = openTurn();
      turn.reasoning = joined(turn.reasoning, thoughtOf(item));
    } else if ((item.type === 'message' || item.type === undefined) && item.role === 'assistant') {
      endTurnWithText();
      const turn = openTurn();
      turn.text = joined(turn.text, textOf(item.content));
    } else {
      const message = messageOf(item);
      if (!message) continue;
      open = undefined;
      entries.push(message);
    }
  }
  return mergeSystem(entries.flatMap((entry) => ('role' in entry ? [entry] : toTurnMessages(entry))));
};
