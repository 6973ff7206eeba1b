import { describe, expect, test } from '@jest/globals';
import { ChatCompletionRequest } from '../../../shared/chat/request.ts';
import { promptBytes, toUpstreamChat } from '../../../shared/chat/to-upstream.ts';

const valid = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const facts = { model: '', maxTokens: 10, requestId: 'req_1' };

describe('a chat completion request', () => {
  test('takes null for every optional field, and unknown properties', () => {
    const nulls = {
      max_tokens: null,
      max_completion_tokens: null,
      temperature: null,
      seed: null,
      stop: null,
      stream: null,
      stream_options: null,
      user: null,
      metadata: null,
    };
    expect(ChatCompletionRequest.safeParse({ ...valid, ...nulls, something: { new: true } }).success).toBe(true);
  });

  test.each([
    ['model', { model: null }],
    ['model', { model: '' }],
    ['messages', { messages: null }],
    ['messages', { messages: [] }],
    ['messages', { messages: [{ role: 'user', content: null }] }],
    ['messages', { messages: [{ role: 'wizard', content: 'x' }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] }],
    ['temperature', { temperature: 2.1 }],
    ['max_tokens', { max_tokens: 0 }],
    ['seed', { seed: 1.5 }],
    ['stop', { stop: ['a', 'b', 'c', 'd', 'e'] }],
    ['stop', { stop: '' }],
    ['stream', { stream: 'yes' }],
    ['stream_options', { stream_options: { include_usage: true } }],
    ['metadata', { metadata: { big: 'x'.repeat(17_000) } }],
  ])('names %s when it gets %j', (field, change) => {
    const result = ChatCompletionRequest.safeParse({ ...valid, ...change });
    expect(result.error?.issues[0]?.path[0]).toBe(field);
  });

  test('goes upstream without nulls and without what is not meant to go there, always a stream with usage and a bound', () => {
    const request = ChatCompletionRequest.parse({
      ...valid,
      temperature: 0,
      seed: null,
      cache_salt: 'x',
      priority: 9,
      request_id: 'mine',
      prompt: 'x',
      user: 'u',
      metadata: { a: 1 },
    });
    expect(toUpstreamChat(request, facts)).toEqual({
      model: '',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 10,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
      request_id: 'req_1',
    });
  });

  test('messages go upstream as a chat template takes them', () => {
    const messages = [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Be ' },
          { type: 'text', text: 'brief.' },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', extra: 1, function: { name: 'f', arguments: { a: 1 } } }] },
      { role: 'tool', tool_call_id: 'c', content: 'ok', extra: 1 },
    ];
    expect(toUpstreamChat(ChatCompletionRequest.parse({ model: 'm', messages }), facts).messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
      { role: 'tool', content: 'ok', tool_call_id: 'c' },
    ]);
  });

  test('the size of its prompt counts bytes, not characters', () => {
    const size = (content: string): number =>
      promptBytes(ChatCompletionRequest.parse({ model: 'm', messages: [{ role: 'user', content }] }));
    expect(size('👋') - size('')).toBe(4);
  });
});
