// Calls of tools and their results: the items of responses, and the parts of messages in the shapes of other APIs.
const TOOL_TYPE = /_call(?:_output)?$|^tool_search_output$|(?:^|_)tool_(?:use|result)$/;
// These fields identify a call. All others are left out, so that a new kind of call reveals nothing.
const CALL_IDENTITY = new Set(['id', 'type', 'call_id', 'tool_use_id', 'name', 'namespace', 'role', 'status', 'server_label']);

// A tool's input and output: `arguments` anywhere, the `input` of something with a name, the content of a tool's
// message, and the fields of a call in addition to its identity.
const isToolContent = (field: string, { role, type, name }: Record<string, unknown>): boolean =>
  field === 'arguments' ||
  (field === 'input' && typeof name === 'string') ||
  (field === 'content' && (role === 'tool' || role === 'function')) ||
  (typeof type === 'string' && TOOL_TYPE.test(type) && !CALL_IDENTITY.has(field));

const TOKEN_FIELDS = new Set(['logprobs', 'top_logprobs', 'prompt_logprobs', 'token_ids', 'prompt_token_ids']);
// Text that a client keeps between requests: a model's reasoning, or the summary of a conversation.
const SEALED = 'encrypted_content';

const hasEntries = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !(Array.isArray(value) && value.length === 0);

// No pattern can be found in tokens and in encoded text, and they repeat text that is left out elsewhere.
const isTokens = (field: string, value: unknown): boolean =>
  (TOKEN_FIELDS.has(field) && hasEntries(value)) ||
  (field === SEALED && typeof value === 'string') ||
  (field === 'prompt' && Array.isArray(value) && value.some((part) => typeof part !== 'string'));

/** Why the value of a field is left out as a whole; undefined: it is not. */
export const leftOutAs = (
  field: string,
  object: Record<string, unknown>,
  toolArguments: 'redact' | 'keep',
): 'tool' | 'tokens' | undefined => {
  if (toolArguments === 'redact' && isToolContent(field, object)) return 'tool';
  return isTokens(field, object[field]) ? 'tokens' : undefined;
};
