import { describe, expect, test } from '@jest/globals';
import { toChatPrompt } from '../../../../functions/inference/chat/to-prompt.ts';
import { resolveMaxTokens } from '../../../../functions/inference/pipeline/prepare-request.ts';
import type { ResponsesRequest } from '../../../../functions/inference/responses/request.ts';
import { checkResponses, ignoredResponsesFields } from '../../../../functions/inference/responses/support.ts';
import { toChat } from '../../../../functions/inference/responses/to-chat.ts';
import { windowOf } from '../../../../functions/inference/responses/window.ts';
import { Model } from '../../../../shared/models/model.ts';
import { called, read, result, thought, user } from '../../../support/clients/responses-requests.ts';

const model = Model.parse({
  name: 'm',
  status: 'published',
  created: 0,
  context_length: 1_000,
  max_output_tokens: 800,
  default_output_tokens: 100,
  targets: [{ endpoint: 'e' }],
  prices: [{ version: 'p', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
});
const messages = (input: unknown, more: object = {}): unknown[] => toChatPrompt(toChat(read({ input, ...more })), model).messages;
const made = (id: string, name = 'f') => ({ id, type: 'function', function: { name, arguments: '{}' } });
const tool = (id: string, content = 'done') => ({ role: 'tool', content, tool_call_id: id });

const checkWith = (request: ResponsesRequest, of: Model): void =>
  checkResponses(request, of, resolveMaxTokens(request.body.max_output_tokens ?? undefined, of));

describe('a conversation of items', () => {
  test('begins with the instructions, merged with the system messages after them', () => {
    expect(messages([{ role: 'developer', content: 'B' }, { role: 'system', content: 'C' }, user('Hi')], { instructions: 'A' })).toEqual([
      { role: 'system', content: 'A\n\nB\n\nC' },
      { role: 'user', content: 'Hi' },
    ]);
  });

  test('has the calls of a turn in one message, after its reasoning and before their results', () => {
    expect(messages([user('Hi'), thought('Hm'), called('a'), called('b', 'g'), result('a'), result('b', 'two'), user('And?')])).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, reasoning: 'Hm', tool_calls: [made('a'), made('b', 'g')] },
      tool('a'),
      tool('b', 'two'),
      { role: 'user', content: 'And?' },
    ]);
  });

  test('has text and calls of one turn in one message, in either order', () => {
    const assistantMessage = { role: 'assistant', content: [{ type: 'output_text', text: 'Let me see.' }] };
    const expected = [{ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Let me see.', tool_calls: [made('a')] }, tool('a')];
    expect(messages([user('Hi'), assistantMessage, called('a'), result('a')])).toEqual(expected);
    expect(messages([user('Hi'), called('a'), assistantMessage, result('a')])).toEqual(expected);
  });

  test('separates turns at results and texts', () => {
    expect(messages([user('Hi'), called('a'), result('a'), called('b'), result('b')])).toMatchObject([
      {},
      { tool_calls: [made('a')] },
      tool('a'),
      { tool_calls: [made('b')] },
      tool('b'),
    ]);
    const one = { role: 'assistant', content: 'one' };
    expect(messages([user('Hi'), one, thought('Hm'), { role: 'assistant', content: 'two' }])).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'one' },
      { role: 'assistant', content: 'two', reasoning: 'Hm' },
    ]);
  });

  test('has each result after its call, wherever the caller has put it and however often an id is used', () => {
    expect(messages([user('Hi'), called('a'), user('Wait'), result('a')])).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [made('a')] },
      tool('a'),
      { role: 'user', content: 'Wait' },
    ]);
    expect(messages([user('Hi'), called('a'), result('a', 'one'), called('a'), result('a', 'two')])).toMatchObject([
      {},
      {},
      tool('a', 'one'),
      {},
      tool('a', 'two'),
    ]);
  });

  test('reads reasoning from its content, else from its summary, and drops reasoning without output after it', () => {
    const summary = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] };
    expect(messages([user('Hi'), summary, { role: 'assistant', content: 'Ho' }])[1]).toMatchObject({ reasoning: 'Hm' });
    expect(messages([user('Hi'), summary, user('Well?')])).toHaveLength(2);
  });
});

describe('the settings of a request', () => {
  test('get the names of chat completions', () => {
    const tools = [{ type: 'function', name: 'f', description: 'F', parameters: { type: 'object' }, strict: true }, { type: 'web_search' }];
    const requested = { tools, tool_choice: { type: 'function', name: 'f' }, reasoning: { effort: 'minimal' }, temperature: 0.5, top_p: 1 };
    expect(toChat(read({ ...requested, text: { format: { type: 'json_object' } }, top_logprobs: 2 }))).toMatchObject({
      tools: [{ type: 'function', function: { name: 'f', description: 'F', parameters: { type: 'object' }, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      reasoning_effort: 'low',
      response_format: { type: 'json_object' },
      temperature: 0.5,
      top_p: 1,
      logprobs: true,
      top_logprobs: 2,
    });
  });

  test('are listed if they have no effect', () => {
    const tools = [{ type: 'web_search' }, { type: 'computer', name: 'n' }, { type: 'web_search' }, { type: 'function', name: 'f' }];
    const requested = {
      tools,
      include: ['file_search_call.results'],
      text: { verbosity: 'low' },
      truncation: 'auto',
      client_metadata: {},
    };
    expect(ignoredResponsesFields(read(requested), model)).toEqual([
      'client_metadata',
      'tools.web_search',
      'tools.computer',
      'include',
      'text.verbosity',
      'truncation',
    ]);
    const silent = {
      include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
      instructions: 'A',
      store: false,
      metadata: {},
      text: { format: { type: 'text' } },
    };
    expect(ignoredResponsesFields(read(silent), model)).toEqual([]);
  });

  test.each(['constructor', 'toString', '__proto__'])('are listed as tools that do not run here if the type of a tool is %s', (type) => {
    const tools = [{ type }, { type: 'namespace', name: 'n', tools: [{ type }] }];
    const input = [
      { role: 'user', content: 'Hi' },
      { type: 'additional_tools', tools: [{ type }] },
    ];
    expect(ignoredResponsesFields(read({ tools, input }), model)).toEqual([`tools.${type}`]);
  });

  test('are rejected with the caller’s field name if the model does not support them', () => {
    const plain = { ...model, capabilities: { ...model.capabilities, tools: false, json_object: false } };
    expect(() => checkWith(read({ tools: [{ type: 'function', name: 'f' }] }), plain)).toThrow("'tools'");
    expect(() => checkWith(read({ text: { format: { type: 'json_object' } } }), plain)).toThrow("'text.format'");
  });

  test('can’t request more log probabilities than the final events can hold', () => {
    const large = { ...model, max_output_tokens: 30_000 };
    const check = (body: Record<string, unknown>) => () => checkWith(read(body), large);
    expect(check({ top_logprobs: 20, max_output_tokens: 900 })).not.toThrow();
    expect(check({ max_output_tokens: 30_000 })).not.toThrow();
    const include = ['message.output_text.logprobs'];
    for (const body of [
      { top_logprobs: 20, max_output_tokens: 1_000 },
      { include, max_output_tokens: 20_001, stream: true },
    ])
      expect(check(body)).toThrow(expect.objectContaining({ status: 400, param: 'top_logprobs' }));
  });
});

describe('the context window', () => {
  const window = (request: ResponsesRequest) =>
    windowOf(request, model, resolveMaxTokens(request.body.max_output_tokens ?? undefined, model));

  test('leaves the answer what the prompt does not use; older items are evicted only on request', () => {
    const plain = { requestedTokens: 5, whenExceeded: 'truncate', maxPromptTokens: undefined };
    expect(window(read({ max_output_tokens: 5 }))).toMatchObject(plain);
    expect(window(read({ truncation: 'disabled' })).maxPromptTokens).toBeUndefined();
    expect(window(read({ truncation: 'auto' })).maxPromptTokens).toBe(900);
    expect(window(read({ truncation: 'auto', max_output_tokens: 5_000 })).maxPromptTokens).toBe(500);
  });
});
