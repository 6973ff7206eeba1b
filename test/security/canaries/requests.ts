import { EMBEDDING_MODEL, RERANK_MODEL } from '../../../infra/local/container.ts';
import { COUNT_TOKENS_PATH, MESSAGES_PATH } from '../../../shared/http/messages-path.ts';
import type { Planted } from './canaries.ts';

/** A request's body and headers, with a canary wherever a caller can write text. */
export interface CanaryRequest {
  path: string;
  /** Without its model, unless that is another than the run's own. */
  body: Record<string, unknown>;
}

/** The routes that accept text, and how to fill each of them. */
export type CanaryRoute = (planted: Planted) => CanaryRequest;

const toolOf = ({ content }: Planted) => ({
  name: content('tool name'),
  description: content('tool description'),
  parameters: { type: 'object', properties: { [content('property')]: { type: 'string', description: content('property description') } } },
});

// The model replies the same each time. By chance it can repeat a word of its prompt, which the payload log then has as
// the reply.
const GREEDY = { temperature: 0 };

// The payload log leaves out arguments and results of tools, and addresses.
const hidden = ({ secret }: Planted) => ({
  toolArguments: JSON.stringify({ [secret('argument name')]: secret('argument') }),
  toolResult: secret('tool result'),
  email: `${secret('address')}@example.com`,
});

const commonOf = ({ content, ignored, traced }: Planted) => ({
  user: traced('user'),
  metadata: { [traced('metadata key')]: traced('metadata value') },
  [ignored('unknown field')]: { [content('unknown name')]: content('unknown value') },
});

const chat: CanaryRoute = (planted) => {
  const { content } = planted;
  const { toolArguments, toolResult, email } = hidden(planted);
  const id = content('call id');
  return {
    path: '/v1/chat/completions',
    body: {
      messages: [
        { role: 'system', content: content('system message') },
        { role: 'user', content: `${content('user message')} ${email}`, name: content('name') },
        {
          role: 'assistant',
          content: content('assistant message'),
          tool_calls: [{ id, type: 'function', function: { name: 'look_up', arguments: toolArguments } }],
        },
        { role: 'tool', tool_call_id: id, content: toolResult },
        { role: 'user', content: [{ type: 'text', text: content('text part') }] },
      ],
      tools: [{ type: 'function', function: toolOf(planted) }],
      stop: [content('stop sequence')],
      max_tokens: 4,
      ...GREEDY,
      ...commonOf(planted),
    },
  };
};

const completions: CanaryRoute = (planted) => ({
  path: '/v1/completions',
  body: {
    prompt: `${planted.content('prompt')} ${hidden(planted).email}`,
    stop: planted.content('stop sequence'),
    max_tokens: 4,
    ...GREEDY,
    ...commonOf(planted),
  },
});

const embeddings: CanaryRoute = (planted) => ({
  path: '/v1/embeddings',
  body: {
    model: EMBEDDING_MODEL,
    input: [planted.content('first input'), `${planted.content('second input')} ${hidden(planted).email}`],
    user: planted.traced('user'),
    [planted.ignored('unknown field')]: { [planted.content('unknown name')]: planted.content('unknown value') },
  },
});

const rerank: CanaryRoute = (planted) => ({
  path: '/v2/rerank',
  body: {
    model: RERANK_MODEL,
    query: planted.content('query'),
    documents: [planted.content('document'), { text: `${planted.content('document in an object')} ${hidden(planted).email}` }],
    return_documents: true,
    user: planted.traced('user'),
    [planted.ignored('unknown field')]: { [planted.content('unknown name')]: planted.content('unknown value') },
  },
});

const responses =
  (store: boolean): CanaryRoute =>
  (planted) => {
    // A response that is not stored is content like any other.
    const keep = store ? { ...planted, content: planted.stored, traced: planted.storedTrace } : planted;
    const argumentName = store ? planted.stored : planted.secret;
    const { content } = keep;
    return {
      path: '/v1/responses',
      body: {
        store,
        instructions: content('instructions'),
        input: [
          { role: 'user', content: [{ type: 'input_text', text: content('input') }] },
          { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: JSON.stringify({ word: argumentName('argument') }) },
          { type: 'function_call_output', call_id: 'call_1', output: argumentName('tool result') },
          { role: 'user', content: content('question') },
        ],
        tools: [{ type: 'function', ...toolOf(keep) }],
        max_output_tokens: 16,
        ...GREEDY,
        ...commonOf(keep),
      },
    };
  };

// The tools of Codex, with a conversation that uses each of them and begins with a summary.
const codex: CanaryRoute = (planted) => {
  const { content, secret } = planted;
  const { email } = hidden(planted);
  const { parameters, ...named } = toolOf(planted);
  const loaded = { type: 'function', name: 'look_up', description: secret('tool that was found') };
  const sealed = `sluice.1.${Buffer.from(`${secret('summary')} ${email}`).toString('base64url')}`;
  return {
    path: '/v1/responses',
    body: {
      store: false,
      input: [
        { type: 'compaction', encrypted_content: sealed },
        { role: 'user', content: content('request') },
        { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: secret('input of a custom tool') },
        { type: 'custom_tool_call_output', call_id: 'call_1', output: secret('output of a custom tool') },
        { type: 'tool_search_call', call_id: 'call_2', execution: 'client', arguments: { [secret('search field')]: secret('search') } },
        { type: 'tool_search_output', call_id: 'call_2', execution: 'client', status: 'completed', tools: [loaded] },
        { type: 'local_shell_call', call_id: 'call_3', status: 'completed', action: { type: 'exec', command: [secret('command')] } },
        { type: 'local_shell_call_output', call_id: 'call_3', output: secret('output of a command') },
        { role: 'user', content: content('question') },
      ],
      tools: [
        { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: content('grammar') } },
        {
          type: 'namespace',
          name: content('namespace'),
          description: content('namespace description'),
          tools: [{ type: 'function', ...named, parameters }],
        },
        { type: 'tool_search', execution: 'client', description: content('search description'), parameters: { type: 'object' } },
        { type: 'local_shell' },
      ],
      max_output_tokens: 16,
      ...GREEDY,
      ...commonOf(planted),
    },
  };
};

// Everything that a prompt is made from, so that tokens are counted for the same.
const conversation = (planted: Planted) => {
  const { content, secret, ignored } = planted;
  const { toolArguments, toolResult, email } = hidden(planted);
  const { parameters: input_schema, ...named } = toolOf(planted);
  const id = content('call id');
  const found = [{ type: 'text', text: secret('result of a server') }];
  return {
    system: [{ type: 'text', text: content('system prompt') }],
    messages: [
      { role: 'user', content: `${content('user message')} ${email}` },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: content('thinking'), signature: content('signature') },
          { type: 'redacted_thinking', data: content('redacted thinking') },
          { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'search', server_name: 'a', input: { [secret('field')]: secret('search') } },
          { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: false, content: found },
          { type: 'text', text: content('assistant message') },
          { type: 'tool_use', id, name: 'look_up', input: JSON.parse(toolArguments) },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: toolResult }] },
          { type: 'document', title: content('title'), source: { type: 'text', media_type: 'text/plain', data: content('document') } },
          { type: 'text', text: content('text block') },
        ],
      },
      { role: 'system', content: content('system message') },
    ],
    tools: [{ ...named, input_schema }],
    metadata: { user_id: planted.traced('user') },
    [ignored('unknown field')]: { [content('unknown name')]: content('unknown value') },
  };
};

const messages: CanaryRoute = (planted) => ({
  path: MESSAGES_PATH,
  body: { ...conversation(planted), stop_sequences: [planted.content('stop sequence')], max_tokens: 4, ...GREEDY },
});

const countTokens: CanaryRoute = (planted) => ({ path: COUNT_TOKENS_PATH, body: conversation(planted) });

const tokenizeText: CanaryRoute = (planted) => ({
  path: '/tokenize',
  body: { prompt: planted.content('prompt'), ...commonOf(planted) },
});

const tokenizeChat: CanaryRoute = (planted) => ({
  path: '/tokenize',
  body: { messages: [{ role: 'user', content: planted.content('message') }], ...commonOf(planted) },
});

const detokenize: CanaryRoute = (planted) => ({ path: '/detokenize', body: { tokens: [1, 2, 3], ...commonOf(planted) } });

/** All routes of a model, by what they are called in the names of canaries. */
export const canaryRoutes: Record<string, CanaryRoute> = {
  chat,
  completions,
  embeddings,
  rerank,
  responses: responses(false),
  'stored-responses': responses(true),
  codex,
  messages,
  'count-tokens': countTokens,
  tokenize: tokenizeText,
  'tokenize-chat': tokenizeChat,
  detokenize,
};

/** The routes that call a model and generate no text, so that they can't be streamed. */
export const poolingRoutes = ['embeddings', 'rerank'] as const;

/** The routes that generate text. */
export const generatingRoutes = ['chat', 'completions', 'responses', 'stored-responses', 'codex', 'messages'] as const;
