import type { InputItem } from '../../../../shared/responses/item.ts';
import { isCompaction, openSealed } from './compaction.ts';
import { LoadedTools, MAX_FUNCTIONS, type ResponseToolChoice } from './tool-kinds.ts';
import type { ToolNames } from './tool-names.ts';

interface ToolFault {
  path: (string | number)[];
  message: string;
}

const faultOfItem = (item: InputItem, isLast: boolean): ToolFault | undefined => {
  if (item.type === 'tool_search_output' || item.type === 'additional_tools') {
    const issue = LoadedTools.safeParse(item.tools).error?.issues[0];
    return issue && { path: ['tools', ...(issue.path as (string | number)[])], message: issue.message };
  }
  if (item.type === 'compaction_trigger' && !isLast) return { path: ['type'], message: 'a compaction_trigger must be the last item' };
  if (isCompaction(item) && openSealed(item.encrypted_content) === undefined)
    return {
      path: ['encrypted_content'],
      message: 'this compaction was made by another service, and only that service can read it: start from the messages before it',
    };
  return undefined;
};

/** The first fault of the tools and summaries in the input, with its place. */
export const faultOfItems = (input: readonly InputItem[]): ToolFault | undefined => {
  for (const [index, item] of input.entries()) {
    const fault = faultOfItem(item, index === input.length - 1);
    if (fault) return { path: ['input', index, ...fault.path], message: fault.message };
  }
  return undefined;
};

/** The tool that a choice names. */
export const namedBy = ({ type, name, namespace }: Exclude<ResponseToolChoice, string>) => ({
  kind: type,
  name,
  namespace: namespace ?? undefined,
});

const isOffered = (choice: Exclude<ResponseToolChoice, string>, names: ToolNames): boolean => {
  const found = names.find(names.encode(namedBy(choice)));
  return found?.kind === choice.type && found.name === choice.name;
};

/** The first fault of a request's tools and its choice of one. */
export const faultOfTools = (choice: ResponseToolChoice | null | undefined, names: ToolNames): ToolFault | undefined => {
  const count = names.functions.length;
  if (count > MAX_FUNCTIONS)
    return { path: ['tools'], message: `expected at most ${MAX_FUNCTIONS} functions in all tools together, got ${count}` };
  if (choice == null || choice === 'auto' || choice === 'none') return undefined;
  if (count === 0) return { path: ['tool_choice'], message: 'only valid with function tools: add tools or leave this field out' };
  if (choice === 'required' || isOffered(choice, names)) return undefined;
  return { path: ['tool_choice'], message: `expected the name of one of the tools, got '${choice.name}'` };
};
