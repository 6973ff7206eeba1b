import { describe, expect, test } from '@jest/globals';
import { called, read, refusal, result, thought, user } from '../../../support/clients/responses-requests.ts';

describe('a request', () => {
  test.each([
    ['a string', 'Hi'],
    ['a message without a type', [user('Hi')]],
    ['parts', [user([{ type: 'input_text', text: 'Hi' }])]],
    ['a developer', [{ type: 'message', role: 'developer', content: 'Be brief.' }, user('Hi')]],
    [
      'a replayed answer',
      [
        user('Hi'),
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Ho', annotations: [] }],
        },
      ],
    ],
    ['a refusal', [user('Hi'), { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }, user('Hi')]],
    ['calls and results', [user('Hi'), thought('Hm'), called('a'), result('a', [{ type: 'input_text', text: 'x' }])]],
    ['reasoning with nothing in it', [user('Hi'), { type: 'reasoning', id: 'r', summary: [], content: null, encrypted_content: null }]],
  ])('accepts %s as its input', (_, input) => {
    expect(read({ input }).body.input.length).toBeGreaterThan(0);
  });

  test('accepts null and unknown fields wherever clients send them', () => {
    const nulls = Object.fromEntries(
      'instructions max_output_tokens temperature top_p tools tool_choice parallel_tool_calls text reasoning metadata user store previous_response_id stream truncation top_logprobs include prompt_cache_key background conversation prompt'
        .split(' ')
        .map((name) => [name, null]),
    );
    expect(read({ ...nulls, client_metadata: { a: 1 }, background: false }).body).toMatchObject({ client_metadata: { a: 1 } });
    expect(read({ text: {}, reasoning: { effort: null, summary: null }, include: [], stream_options: {} }).stream).toBe(false);
  });

  test('isolates the prompt cache by prompt_cache_key', () => {
    expect(read({ prompt_cache_key: 'k' }).prompt_cache_isolation_key).toBe('k');
  });

  test.each([
    ['input', { input: 5 }, 'expected a string or an array of items'],
    ['input', { input: undefined }, 'required'],
    ['input', { input: [] }, 'at least one item'],
    ['input', { input: [thought('Hm')] }, 'other than reasoning'],
    ['input[0].type', { input: [{ type: 'computer_call', id: 'x' }] }, "'message', 'function_call'"],
    ['input[1].content', { input: [user('Hi'), user([{ type: 'input_image', image_url: 'x' }])] }, 'images, audio and files'],
    ['input[0].arguments', { input: [{ type: 'function_call', call_id: 'a', name: 'f' }] }, 'required'],
    ['input[1].call_id', { input: [user('Hi'), result('a')] }, "no function_call before it has the call_id 'a'"],
    ['input[0].call_id', { input: [result('a'), called('a')] }, 'no function_call before it'],
    ['background', { background: true }, 'not supported'],
    ['conversation', { conversation: 'conv_1' }, 'previous_response_id'],
    ['prompt', { prompt: { id: 'p' } }, 'instructions'],
    ['tools[1].name', { tools: [{ type: 'web_search' }, { type: 'function', name: 'a b' }] }, '1 to 64 letters'],
    ['tool_choice', { tool_choice: 'required', tools: [{ type: 'web_search' }] }, 'function tools'],
    ['tool_choice', { tool_choice: { type: 'function', name: 'g' }, tools: [{ type: 'function', name: 'f' }] }, "'g'"],
    ['tool_choice', { tool_choice: { type: 'web_search' } }, "'auto', 'none', 'required'"],
    ['text.format.schema', { text: { format: { type: 'json_schema', name: 'a' } } }, 'expected a JSON Schema object'],
    ['text.format', { text: { format: { type: 'xml' } } }, "'text', 'json_object' or 'json_schema'"],
    ['max_output_tokens', { max_output_tokens: 0 }, ''],
    ['temperature', { temperature: 3 }, ''],
    ['truncation', { truncation: 'middle' }, ''],
    ['reasoning.effort', { reasoning: { effort: 'vast' } }, ''],
    ['metadata', { metadata: { a: 'x'.repeat(17_000) } }, '16384'],
  ])('is rejected with a 400 that names %s: %j', (param, body, words) => {
    const { status, message, ...rest } = refusal(body);
    expect(status).toBe(400);
    expect(rest.param?.replace(/\.type$/, '')).toBe(param.replace(/\.type$/, ''));
    expect(message).toContain(words);
  });

  test('can have a JSON schema', () => {
    const format = { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: true };
    expect(read({ text: { format } }).body.text?.format).toEqual(format);
  });

  test('can have the result of a call in the response that it continues', () => {
    expect(read({ previous_response_id: 'resp_1', input: [result('a')] }).body.input).toHaveLength(1);
  });
});
