import type { ConversationItem, MessageItem } from '../../../shared/responses/item.ts';
import type { Message } from '../chat/message.ts';

type Content = MessageItem['content'];
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

/**
 * Converts items to chat messages. Each turn of the model becomes one message with its reasoning, text and calls. Each
 * result follows the message with its call, wherever the caller has put it.
 */
export const toMessages = (items: readonly ConversationItem[], instructions: string | null | undefined): Message[] => {
  const entries: (Message | Turn)[] = instructions ? [{ role: 'system', content: instructions }] : [];
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
    if (item.type === 'function_call') {
      const turn = openTurn();
      turn.calls.push({ id: item.call_id, type: 'function', function: { name: item.name, arguments: item.arguments } });
      turnOfCall.set(item.call_id, turn);
    } else if (item.type === 'function_call_output') {
      turnOfCall.get(item.call_id)?.results.push({ role: 'tool', content: textOf(item.output), tool_call_id: item.call_id });
      open = undefined;
    } else if (item.type === 'reasoning') {
      endTurnWithText();
      const turn = openTurn();
      const parts = item.content?.length ? item.content : (item.summary ?? []);
      turn.reasoning = joined(turn.reasoning, parts.map(({ text }) => text).join('\n'));
    } else if (item.role === 'assistant') {
      endTurnWithText();
      const turn = openTurn();
      turn.text = joined(turn.text, textOf(item.content));
    } else {
      open = undefined;
      entries.push({ role: item.role === 'user' ? 'user' : 'system', content: textOf(item.content) });
    }
  }
  return mergeSystem(entries.flatMap((entry) => ('role' in entry ? [entry] : toTurnMessages(entry))));
};
