import { describe, expect, test } from '@jest/globals';
import { chatRequest } from '../../../../functions/inference/chat/request.ts';
import { CompletionRequest } from '../../../../functions/inference/completions/request.ts';
import { messagesRequest } from '../../../../functions/inference/messages/request.ts';
import { knownFieldsOf } from '../../../../functions/inference/payload-log/known-fields.ts';
import { responsesRequest } from '../../../../functions/inference/responses/request.ts';
import { keepEffective } from '../../../../shared/payload-log/effective-fields.ts';

const SCHEMAS = {
  'chat completions': chatRequest,
  completions: CompletionRequest,
  responses: responsesRequest,
  messages: messagesRequest,
};

const BODIES: Record<keyof typeof SCHEMAS, object> = {
  'chat completions': {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be kind.' },
      {
        role: 'assistant',
        content: null,
        reasoning: 'r',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: { a: [1] } } }],
      },
    ],
    tools: [
      { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object', properties: { a: {} } }, strict: true } },
    ],
    tool_choice: { type: 'function', function: { name: 'f' } },
    response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object', x: { y: 1 } } } },
    logit_bias: { 5: 1 },
    metadata: { a: { b: 'c' } },
    prediction: { type: 'content', content: [{ type: 'text', text: 'x' }] },
    thinking: { type: 'enabled', budget_tokens: 1 },
    stream_options: { include_usage: true },
  },
  completions: { model: 'm', prompt: ['a', 'b'], metadata: { a: 1 }, logit_bias: { 5: 1 } },
  responses: {
    model: 'm',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'x' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
      { type: 'reasoning', summary: [{ text: 's' }] },
      { type: 'item_reference', id: 'msg_1' },
      { type: 'custom_tool_call', call_id: 'd', name: 'p', namespace: 'n', input: 'x' },
      { type: 'local_shell_call', call_id: 'e', action: { type: 'exec', command: ['ls'], working_directory: '/', env: { A: 'b' } } },
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'g' }] }] },
      { type: 'compaction', encrypted_content: 'x' },
    ],
    tools: [
      { type: 'function', name: 'f', parameters: { type: 'object', p: { q: 1 } } },
      { type: 'custom', name: 'p', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
    ],
    text: { format: { type: 'json_schema', name: 's', schema: { a: { b: 1 } } } },
    reasoning: { effort: 'low' },
    metadata: { a: 'b' },
  },
  messages: {
    model: 'm',
    system: [{ type: 'text', text: 's' }],
    messages: [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 't' },
          { type: 'text', text: 'x' },
          { type: 'tool_use', id: 'c', name: 'f', input: { a: [{ b: 1 }] } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c',
            is_error: true,
            content: [
              { type: 'text', text: 'x' },
              { type: 'tool_reference', tool_name: 'f' },
            ],
          },
          { type: 'document', title: 'd', context: 'c', source: { type: 'text', data: 'x' } },
          { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }] } },
          { type: 'search_result', title: 'r', source: 'u', content: [{ type: 'text', text: 'x' }] },
        ],
      },
      { role: 'system', content: 's' },
    ],
    tools: [{ name: 'f', description: 'd', input_schema: { type: 'object', properties: { a: {} } }, strict: true }],
    tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 1 },
    output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object', x: { y: 1 } } } },
    stop_sequences: ['x'],
    metadata: { user_id: 'u' },
  },
};

describe.each(Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[])('the known fields of a request of %s', (name) => {
  const fields = { known: knownFieldsOf(SCHEMAS[name]), ignored: [] };
  const body = BODIES[name];

  test('include every field that has an effect, with what callers define themselves', () => {
    expect(keepEffective(body, fields)).toEqual(body);
  });

  test('exclude a field that is not known', () => {
    expect(keepEffective({ ...body, junk: { a: 1 }, toString: 1, ['__proto__']: 1 }, fields)).toEqual(body);
  });
});

describe('keepEffective', () => {
  test('leaves out fields and tools by the names that callers get for them', () => {
    const fields = {
      known: knownFieldsOf(SCHEMAS.responses),
      ignored: ['truncation', 'text.verbosity', 'tools.web_search', 'reasoning.effort', 'none.x'],
    };
    const tool = { type: 'function', name: 'f' };
    const body = {
      input: 'x',
      truncation: 'auto',
      text: { verbosity: 'low', format: { type: 'text' } },
      tools: [{ type: 'web_search', filters: 'junk' }, tool],
      reasoning: { effort: 'low', summary: 'auto' },
    };
    expect(keepEffective(body, fields)).toEqual({
      input: 'x',
      text: { format: { type: 'text' } },
      tools: [tool],
      reasoning: { summary: 'auto' },
    });
  });
});
