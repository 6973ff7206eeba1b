import { InvalidValue } from '../../../shared/http/errors.ts';
import { type ConversationItem, MAX_CONVERSATION_ITEMS } from '../../../shared/responses/item.ts';
import type { ResponseStore, StoredResponse } from '../../../shared/responses/response-store.ts';
import { ConversationTooLong, PreviousResponseNotFound } from './errors.ts';
import { orphanOf } from './orphan.ts';
import { emptyConversationFault, type ResponsesRequest, toolNamesOf } from './request.ts';
import { resolveReferences } from './resolve-references.ts';
import { charactersOf, MAX_CHARACTERS_TOGETHER } from './room.ts';
import { isCompaction } from './tools/compaction.ts';
import { faultOfTools } from './tools/tool-faults.ts';

// In responses of one conversation.
const MAX_DEPTH = 100;

const isInstruction = (item: ConversationItem): boolean => 'role' in item && (item.role === 'system' || item.role === 'developer');

// A summary replaces the conversation, but not what the application says about it.
const conversationOf = ({ before, input, response }: StoredResponse): ConversationItem[] => {
  const output: readonly ConversationItem[] = response.output;
  const earlier = [...before, ...input];
  return [...(output.some(isCompaction) ? earlier.filter(isInstruction) : earlier), ...output];
};

// Before the stored text becomes a conversation.
const checkRoom = (storedBytes: number, input: readonly ConversationItem[]): void => {
  const characters = storedBytes + charactersOf(input);
  if (characters <= MAX_CHARACTERS_TOGETHER) return;
  throw new ConversationTooLong(`about ${characters} characters with this request, and the maximum is ${MAX_CHARACTERS_TOGETHER}`);
};

/**
 * Adds the earlier conversation to a request that continues a response, and resolves its item references.
 * @throws PreviousResponseNotFound, ItemNotFound, ConversationTooLong; 400 for a result without its call, or a
 * conversation without content
 */
export const continueResponse = async (
  store: Pick<ResponseStore, 'get'>,
  request: ResponsesRequest,
  organization: string,
): Promise<ResponsesRequest> => {
  const { previous_response_id: id } = request.body;
  const input = await resolveReferences(store, request.body.input, organization);
  const previous = id == null ? undefined : await store.get(organization, id, (bytes) => checkRoom(bytes, input));
  if (id != null && !previous) throw new PreviousResponseNotFound(id);
  const before = previous ? { items: conversationOf(previous), depth: previous.depth } : request.before;
  if (before.depth >= MAX_DEPTH) throw new ConversationTooLong(`${before.depth} responses, which is the maximum`);
  const count = before.items.length + input.length;
  if (count > MAX_CONVERSATION_ITEMS) throw new ConversationTooLong(`${count} items, and the maximum is ${MAX_CONVERSATION_ITEMS}`);
  const fault = emptyConversationFault([...before.items, ...input], request.body);
  if (fault) throw new InvalidValue('input', fault);
  const isWhole = before.items.length === 0 && input === request.input;
  const names = isWhole ? request.names : toolNamesOf(request.body, [...before.items, ...input]);
  const toolFault = faultOfTools(request.body.tool_choice, names);
  if (toolFault) throw new InvalidValue(toolFault.path.join('.'), toolFault.message);
  const orphan = orphanOf(input, before.items);
  if (orphan) throw new InvalidValue(`input[${orphan.index}].call_id`, orphan.message);
  return { ...request, input, before, names };
};
