import { describe, expect, test } from '@jest/globals';
import { PromptTooLong } from '../../../../functions/inference/messages/prompt-too-long.ts';
import { messages as route } from '../../../../functions/inference/messages/route.ts';
import { checkMessages, ignoredMessagesFields, isMessagesField } from '../../../../functions/inference/messages/support.ts';
import { messagesPrompt } from '../../../../functions/inference/messages/to-chat.ts';
import { fitWindow } from '../../../../functions/inference/pipeline/fit-window.ts';
import type { Model } from '../../../../shared/models/model.ts';
import { assistant, model, read, user } from './requests.ts';

const tools = [{ name: 'look', input_schema: {} }];
const ignored = (body: Record<string, unknown>, of: Model = model): string[] => ignoredMessagesFields(read(body), of);
const schema = { type: 'json_schema', schema: { type: 'object' } };

describe('the fields without effect', () => {
  test('are none of a usual request', () => {
    expect(
      ignored({ system: 'A', temperature: 1, tools, tool_choice: { type: 'auto' }, stop_sequences: ['a'], metadata: { user_id: 'u' } }),
    ).toEqual([]);
    expect(ignored({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } })).toEqual([]);
  });

  test('are those of Claude Code that only Anthropic knows', () => {
    const body = {
      thinking: { type: 'adaptive', display: 'omitted' },
      context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
      cache_control: { type: 'ephemeral' },
      speed: null,
    };
    expect(ignored(body)).toEqual(['context_management', 'cache_control', 'thinking.display']);
    expect(ignored({ thinking: { type: 'adaptive', display: 'summarized' } })).toEqual([]);
  });

  test('are listed by the names of the Messages API', () => {
    expect(ignored({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } })).toEqual([
      'tool_choice',
      'tool_choice.disable_parallel_tool_use',
    ]);
    expect(ignored({ thinking: { type: 'enabled', budget_tokens: 5 } })).toEqual(['thinking.budget_tokens']);
    expect(ignored({ output_config: { effort: 'high' } })).toEqual(['output_config.effort']);
    expect(
      ignored({ top_k: 5, thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }, { ...model, dialect: 'transformers' }),
    ).toEqual(['top_k', 'output_config.effort']);
  });

  test('include blocks of history that only their own service can read', () => {
    const foreign = ['redacted_thinking', 'server_tool_use', 'web_search_tool_result', 'server_tool_use'].map((type) => ({ type }));
    const body = { messages: [user('Hi'), assistant([...foreign, { type: 'text', text: 'A' }]), user('?')] };
    expect(ignored(body)).toEqual(['messages.redacted_thinking', 'messages.server_tool_use', 'messages.web_search_tool_result']);
    expect(messagesPrompt(read(body), model).messages).toEqual([user('Hi'), assistant('A'), user('?')]);
  });

  test('are recorded with events only if their names are Anthropic’s, not the caller’s text', () => {
    const body = { betas: ['b'], wombat: 1, thinking: { type: 'adaptive', display: 'omitted' }, tool_choice: { type: 'auto' } };
    expect(ignored(body).filter(isMessagesField)).toEqual(['betas', 'tool_choice', 'thinking.display']);
    expect(isMessagesField('wombat')).toBe(false);
  });
});

describe('the model', () => {
  const without = (change: Partial<Model['capabilities']>): Model => ({ ...model, capabilities: { ...model.capabilities, ...change } });

  test('must support tools', () => {
    expect(() => checkMessages(read({ tools }), without({ tools: false }), 100)).toThrow("does not support 'tools'");
  });

  test.each([
    ['output_config.format', { output_config: { format: schema } }],
    ['output_format', { output_format: schema }],
    ['output_format', { output_format: schema, output_config: { effort: 'low' } }],
    ['output_config.format', { output_format: schema, output_config: { format: schema } }],
  ])('must support the format of the answer, whose error has the name of the field: %s', (param, body) => {
    expect(() => checkMessages(read(body), without({ json_object: false }), 100)).toThrow(expect.objectContaining({ status: 400, param }));
  });
});

describe('a thread, which is a conversation that the server stores,', () => {
  test('is rejected with the code after which clients send the whole conversation', () => {
    expect(() => checkMessages(read({ thread: { type: 'create' } }), model, 100)).toThrow(
      expect.objectContaining({ status: 400, param: 'thread', code: 'thread_unsupported_request' }),
    );
    expect(() => checkMessages(read({ thread: null }), model, 100)).not.toThrow();
  });
});

describe('a prompt that leaves no room', () => {
  const request = read({ max_tokens: 500 });
  const fitted = (promptTokens: number) => {
    const tokenizer = {
      fit: async () => ({ prompt_tokens: promptTokens, kept: null }),
      count: async () => Promise.reject(new Error('count')),
    };
    const counted: Model = { ...model, tokenizer: { tokenizer: 'k' } };
    const window = route.window(request, counted, 500);
    return fitWindow(tokenizer, counted, { prompt: messagesPrompt(request, counted), longestTokens: 5_000, maxTokens: 500, window });
  };

  test('is a 400 in the words that Claude Code knows', async () => {
    await expect(fitted(1_234)).rejects.toThrow(PromptTooLong);
    await expect(fitted(1_234)).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'messages',
      message: expect.stringMatching(/^prompt is too long: 1234 tokens > 1000 maximum\. .+\.$/),
    });
    await expect(fitted(1_000)).rejects.toThrow('prompt is too long: 1000 tokens > 999 maximum.');
  });

  test('is otherwise fitted by a smaller max_tokens, without an error', async () => {
    expect(await fitted(999)).toMatchObject({ maxTokens: 1 });
    expect(await fitted(100)).toMatchObject({ maxTokens: 500 });
    expect(route.maxTokens(request)).toBe(500);
  });
});
