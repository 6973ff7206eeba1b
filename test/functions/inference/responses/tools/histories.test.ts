import { describe, expect, test } from '@jest/globals';
import { ignoredResponsesFields } from '../../../../../functions/inference/responses/support.ts';
import { toChat } from '../../../../../functions/inference/responses/to-chat.ts';
import { ended, newStorage, whole } from '../../../../support/clients/responses-replies.ts';
import { called, read, refusal, result, user } from '../../../../support/clients/responses-requests.ts';
import { createDefaultModel } from './models.ts';

const now = { type: 'function', name: 'now', description: 'The time.', parameters: { type: 'object' } };
const time = { type: 'namespace', name: 'mcp__time', description: 'Clocks.', tools: [now, { ...now, name: 'zone' }] };
const patch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
};
const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: { type: 'object' } };

const messages = (input: unknown[], more: object = {}) => toChat(read({ input, ...more })).messages;
const call = (id: string, name: string, args: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
});
const tool = (tool_call_id: string, content: string) => ({ role: 'tool', content, tool_call_id });

describe('the functions of a request', () => {
  const functionsOf = (body: object) => toChat(read(body as Record<string, unknown>)).tools?.map((one) => one.function) ?? [];

  test('are those of its tools, in their order', () => {
    const functions = functionsOf({ tools: [patch, { type: 'web_search' }, time, search, { type: 'local_shell' }] });
    expect(functions.map(({ name }) => name)).toEqual(['apply_patch', 'mcp__time__now', 'mcp__time__zone', 'tool_search', 'local_shell']);
    expect(functions[1]).toMatchObject({ description: 'Clocks.\n\nThe time.', parameters: { type: 'object' } });
    expect(functions[2]).toMatchObject({ description: 'The time.' });
    expect(functions[3]).toMatchObject({ description: 'Finds tools.', parameters: { type: 'object' } });
  });

  test('have the text of a custom tool as one string, with its grammar in the description', () => {
    const [edits] = functionsOf({ tools: [patch] });
    expect(edits?.parameters).toMatchObject({
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    });
    expect(edits?.description).toMatch(/^Edits\.\n\n.*`input`.*\n\n.*\(lark\):\nstart: "a"$/s);
  });

  test('have a chosen tool under its function’s name', () => {
    const choose = (tool_choice: object) => toChat(read({ tools: [patch, time], tool_choice })).tool_choice;
    expect(choose({ type: 'custom', name: 'apply_patch' })).toMatchObject({ function: { name: 'apply_patch' } });
    expect(choose({ type: 'function', name: 'now', namespace: 'mcp__time' })).toMatchObject({ function: { name: 'mcp__time__now' } });
  });

  test.each([
    [{ type: 'function', name: 'apply_patch' }],
    [{ type: 'function', name: 'now' }],
    [{ type: 'function', name: 'mcp__time__now' }],
    [{ type: 'custom', name: 'now', namespace: 'mcp__time' }],
  ])('lack a choice of what is not offered: %j', (tool_choice) => {
    expect(refusal({ tools: [patch, time], tool_choice })).toMatchObject({ status: 400, param: 'tool_choice' });
  });

  test('include those that the input loads, after the others and each once', () => {
    const found = { type: 'tool_search_output', call_id: 's', execution: 'client', status: 'completed', tools: [time, now] };
    const input = [user('Hi'), { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: {} }, found, found];
    expect(functionsOf({ tools: [search], input }).map(({ name }) => name)).toEqual([
      'tool_search',
      'mcp__time__now',
      'mcp__time__zone',
      'now',
    ]);
  });

  test('include those that Codex sends as an item', () => {
    const additional = { type: 'additional_tools', id: 'at_1', role: 'developer', tools: [time, { type: 'web_search' }] };
    const request = read({ input: [additional, user('Hi')], tool_choice: 'auto' });
    expect(toChat(request).tools).toHaveLength(2);
    expect(toChat(request).messages).toEqual([{ role: 'user', content: 'Hi' }]);
    expect(ignoredResponsesFields(request, createDefaultModel())).toEqual(['tools.web_search']);
  });

  test('are at most 512, and a fault of a loaded tool has its place', () => {
    const many = { type: 'namespace', name: 'n', tools: Array.from({ length: 512 }, (_, i) => ({ type: 'function', name: `f${i}` })) };
    expect(functionsOf({ tools: [many] })).toHaveLength(512);
    const { status, param, message } = refusal({ tools: [many, patch] });
    expect({ status, param }).toEqual({ status: 400, param: 'tools' });
    expect(message).toContain('at most 512');
    const broken = { type: 'additional_tools', tools: [time, { type: 'function', name: 'a b' }] };
    expect(refusal({ input: [broken, user('Hi')] })).toMatchObject({ status: 400, param: 'input[0].tools[1].name' });
    expect(refusal({ tools: [{ ...time, tools: [{ type: 'custom' }] }] })).toMatchObject({ status: 400, param: 'tools[0].tools[0].name' });
  });
});

describe('a history with calls of tools', () => {
  test('has a call of a namespace under its function’s name', () => {
    expect(messages([user('Hi'), { ...called('a', 'now'), namespace: 'mcp__time' }, result('a')], { tools: [time] }).slice(1)).toEqual([
      call('a', 'mcp__time__now', '{}'),
      tool('a', 'done'),
    ]);
  });

  test('has the text of a custom tool as the function’s argument', () => {
    const input = [
      user('Hi'),
      { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: '"x"' },
      { type: 'custom_tool_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'Done.' }] },
    ];
    expect(messages(input).slice(1)).toEqual([call('a', 'apply_patch', '{"input":"\\"x\\""}'), tool('a', 'Done.')]);
  });

  test.each([
    ['by its call_id', { call_id: 'a' }],
    ['by the id of its item', { id: 'lsc_1' }],
    ['by its call_id in id', { id: 'a' }],
  ])('has the result of a local shell, which names its call %s', (_, names) => {
    const action = { type: 'exec', command: ['ls'], timeout_ms: null, env: {} };
    const input = [
      user('Hi'),
      { type: 'local_shell_call', id: 'lsc_1', call_id: 'a', status: 'completed', action },
      { type: 'local_shell_call_output', ...names, output: 'a.txt' },
    ];
    expect(messages(input).slice(1)).toEqual([call('a', 'local_shell', '{"command":["ls"],"env":{}}'), tool('a', 'a.txt')]);
  });

  test('has the names and descriptions of found tools as the result of a search', () => {
    const input = [
      user('Hi'),
      { type: 'tool_search_call', call_id: 'a', execution: 'client', arguments: { query: 'time' } },
      { type: 'tool_search_output', call_id: 'a', execution: 'client', status: 'completed', tools: [{ ...time, tools: [now] }] },
    ];
    const found = '[{"name":"mcp__time__now","description":"Clocks.\\n\\nThe time."}]';
    expect(messages(input).slice(1)).toEqual([call('a', 'tool_search', '{"query":"time"}'), tool('a', found)]);
  });

  test('pairs searches without ids in their order', () => {
    const one = (name: string) => [
      { type: 'tool_search_call', call_id: null, execution: 'server', arguments: { query: name } },
      { type: 'tool_search_output', call_id: null, execution: 'server', status: 'completed', tools: [{ type: 'function', name }] },
    ];
    expect(messages([user('Hi'), ...one('f'), ...one('g')]).map((message) => message.tool_call_id ?? null)).toEqual([
      null,
      null,
      'search_0',
      null,
      'search_1',
    ]);
  });

  test('has messages between agents', () => {
    const content = [
      { type: 'input_text', text: 'Look' },
      { type: 'encrypted_content', encrypted_content: 'here.' },
    ];
    expect(messages([user('Hi'), { type: 'agent_message', author: '/root', recipient: '/root/a', content }])[1]).toEqual({
      role: 'user',
      content: 'Message from /root to /root/a:\nLook\nhere.',
    });
  });

  test('leaves out items of tools that do not run here, and lists them', () => {
    const request = read({ input: [user('Hi'), { type: 'web_search_call', id: 'ws_1' }, { type: 'configuration_update', reasoning: {} }] });
    expect(toChat(request).messages).toHaveLength(1);
    expect(ignoredResponsesFields(request, createDefaultModel())).toEqual(['input.web_search_call', 'input.configuration_update']);
  });

  test.each([
    ['custom_tool_call', { type: 'custom_tool_call_output', call_id: 'a', output: 'x' }],
    ['tool_search_call', { type: 'tool_search_output', call_id: 'a', execution: 'client', tools: [] }],
    ['local_shell_call', { type: 'local_shell_call_output', id: 'a', output: 'x' }],
  ])('is rejected for a result without a %s before it', (type, item) => {
    const { status, param, message } = refusal({ input: [user('Hi'), item] });
    expect({ status, param }).toEqual({ status: 400, param: 'input[1].call_id' });
    expect(message).toContain(`no ${type} before it has the call_id 'a'`);
  });

  test('is stored without unknown fields, and reads the same again', async () => {
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [time], more: 1 },
      user('Hi'),
      { ...called('a', 'now'), namespace: 'mcp__time', more: 1 },
      result('a'),
      { type: 'custom_tool_call', call_id: 'b', name: 'p', namespace: 'n', input: 'x', more: 1 },
      { type: 'custom_tool_call_output', call_id: 'b', output: 'y', more: 1 },
      { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { query: 'q' }, more: 1 },
      { type: 'tool_search_output', call_id: 'c', execution: 'client', status: 'completed', tools: [now], more: 1 },
      { type: 'local_shell_call', call_id: 'd', action: { type: 'exec', command: ['ls'], user: 'u' }, more: 1 },
      { type: 'local_shell_call_output', id: 'd', output: 'z', more: 1 },
      { type: 'agent_message', author: '/root', recipient: '/a', content: [{ type: 'input_text', text: 'x' }], more: 1 },
      { type: 'web_search_call', id: 'ws_1', more: 1 },
    ];
    const { stored, storage } = newStorage();
    await whole([[ended()]], { input }, storage);
    expect(JSON.stringify(stored[0]?.input)).not.toContain('more');
    expect(messages(stored[0]?.input as unknown[])).toEqual(messages(input));
    expect(toChat(read({ input: stored[0]?.input })).tools).toEqual(toChat(read({ input })).tools);
  });
});
