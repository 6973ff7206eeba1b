import { describe, expect, test } from '@jest/globals';
import { chatRequest } from '../../../../functions/inference/chat/request.ts';
import { validate } from '../../../../shared/http/validate.ts';

const hi = { role: 'user', content: 'Hi' };
const tool = { type: 'function', function: { name: 'f' } };
const call = (id: string | null) => ({ id, function: { name: 'f', arguments: '{}' } });
const asks = (...ids: (string | null)[]) => ({ role: 'assistant', content: null, tool_calls: ids.map(call) });
const result = (tool_call_id?: string) => ({ role: 'tool', content: '5', ...(tool_call_id && { tool_call_id }) });
const read = (body: object) => validate(chatRequest, { model: 'm', messages: [hi], ...body });

describe('the check for contradicting fields', () => {
  test.each([
    ['stream_options', { stream_options: {} }],
    ['stream_options', { stream: false, stream_options: { include_usage: true } }],
    ['top_logprobs', { top_logprobs: 1 }],
    ['top_logprobs', { top_logprobs: 1, logprobs: false }],
    ['n', { n: 2, temperature: 0 }],
    ['n', { n: 2, temperature: 1e-6 }],
    ['thinking', { thinking: { type: 'enabled' }, reasoning_effort: 'low' }],
    ['functions', { tools: [tool], functions: [{ name: 'f' }] }],
    ['tool_choice', { tool_choice: 'required' }],
    ['tool_choice', { tool_choice: 'required', tools: [] }],
    ['tool_choice', { tool_choice: tool }],
    ['tool_choice', { tools: [tool], tool_choice: { type: 'function', function: { name: 'g' } } }],
    ['function_call', { function_call: { name: 'f' } }],
    ['min_tokens', { min_tokens: 5, max_tokens: 4 }],
  ])('rejects %s with a 400 that names it: %j', (param, body) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  test.each(['max_tokens', 'max_completion_tokens'])('names the limit of the answer as the caller sent it: %s', (field) => {
    expect(() => read({ min_tokens: 5, [field]: 4 })).toThrow(`expected at most ${field}, which is 4`);
  });

  test.each([
    [{ n: 2, temperature: 1 }],
    [{ n: 2 }],
    [{ n: 1, temperature: 0 }],
    [{ tool_choice: 'auto' }],
    [{ tool_choice: 'none', tools: [] }],
    [{ stream: false, stream_options: null }],
    [{ tools: [tool], functions: [] }],
    [{ tools: [tool], tool_choice: { type: 'function', function: null } }],
  ])('accepts %j', (body) => {
    expect(() => read(body)).not.toThrow();
  });
});

describe('the order of messages', () => {
  test.each([
    ['a result without a call', 'messages[1].role', [hi, result('c')]],
    ['a result after an assistant message without calls', 'messages[1].role', [{ role: 'assistant', content: 'Hi' }, result('c')]],
    ['a result after the next user message', 'messages[2].role', [asks('c'), hi, result('c')]],
    ['a result of another call', 'messages[1].tool_call_id', [asks('c'), result('d')]],
    ['a second result of a call without an id', 'messages[2].tool_call_id', [asks(null), result('x'), result('y')]],
    ['a result without the id of one of two calls', 'messages[1].tool_call_id', [asks('c', 'd'), result()]],
    ['a function result without a call', 'messages[1].role', [hi, { role: 'function', name: 'f', content: '5' }]],
  ])('is a 400 with %s', (_, param, messages) => {
    expect(() => read({ messages })).toThrow(expect.objectContaining({ status: 400, param }));
  });

  test.each([
    ['several results, in any order', [hi, asks('c', 'd'), result('d'), result('c')]],
    ['a result without an id if there is one call', [hi, asks('c'), result()]],
    ['calls without ids', [hi, asks(null, null), result('x'), result('y')]],
    ['a system message between call and result', [asks('c'), { role: 'system', content: 'a' }, result('c')]],
    [
      'the deprecated form',
      [
        hi,
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: '5' },
      ],
    ],
    ['a call without a result', [hi, asks('c'), hi]],
  ])('allows %s', (_, messages) => {
    expect(() => read({ messages })).not.toThrow();
  });
});

describe('json_schema', () => {
  const format = { type: 'json_schema', json_schema: { name: 'person', schema: { type: 'object' }, strict: true } };

  test('is accepted exactly as OpenAI defines it', () => {
    expect(() => read({ response_format: format })).not.toThrow();
    expect(() => read({ response_format: { ...format, more: 1 } })).toThrow(expect.objectContaining({ param: 'response_format' }));
    expect(() => read({ response_format: { type: 'json_schema' } })).toThrow(/json_schema/);
    expect(() => read({ response_format: { type: 'json_object' } })).not.toThrow();
  });
});
