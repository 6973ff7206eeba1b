import { describe, expect, test } from '@jest/globals';
import { assistant, read, readCount, refusal, result, system, text, used, user } from './requests.ts';

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const tool = { name: 'look', input_schema: { type: 'object' } };

describe('a request for a message', () => {
  test('needs a model, messages and max_tokens', () => {
    for (const [field, given] of [
      ['model', {}],
      ['messages', {}],
      ['max_tokens', {}],
    ] as const)
      expect(refusal({ ...given, [field]: undefined })).toMatchObject({ status: 400, param: field });
    expect(refusal({ max_tokens: 0 }).param).toBe('max_tokens');
    expect(refusal({ messages: [] }).message).toBe("Invalid value for 'messages': expected at least one message.");
  });

  test('can have null for every optional field', () => {
    const names = ['system', 'stream', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'tools', 'tool_choice', 'thinking'];
    const more = ['output_config', 'output_format', 'metadata', 'mcp_servers', 'container', 'context_management', 'service_tier'];
    expect(read(Object.fromEntries([...names, ...more].map((name) => [name, null]))).stream).toBe(false);
  });

  test('can have unknown fields at every level', () => {
    const cache_control = { type: 'ephemeral' };
    const messages = [{ ...user([{ ...text('Hi'), cache_control, citations: [] }]), id: 'x' }];
    const tools = [{ ...tool, type: 'custom', cache_control, defer_loading: true, eager_input_streaming: true, input_examples: [{}] }];
    expect(read({ messages, tools, cache_control, betas: ['b'], diagnostics: {}, wombat: 1 }).conversation.messages).toEqual([user('Hi')]);
  });

  test('has the id of its user from metadata, cut to 512 characters', () => {
    expect(read({ metadata: { user_id: '{"device_id":"d"}' } }).user).toBe('{"device_id":"d"}');
    expect(read({ metadata: { user_id: 'x'.repeat(600) } }).user).toHaveLength(512);
    expect(read({ metadata: {} })).toMatchObject({ metadata: undefined });
  });

  test.each([
    ['an image', { messages: [user([text('Look:'), image])] }, 'messages[0].content[1].type', 'images are not supported'],
    [
      'an image of a tool',
      { messages: [user('Hi'), assistant([used('a')]), user([result('a', [image])])] },
      'messages[2].content[0].content[0].type',
      'images are not supported',
    ],
    [
      'an image of a document',
      { messages: [user([{ type: 'document', source: { type: 'content', content: [image] } }])] },
      'messages[0].content[0].source.content[0].type',
      'images are not supported',
    ],
    [
      'a PDF',
      { messages: [user([{ type: 'document', source: { type: 'base64', data: 'AAAA' } }])] },
      'messages[0].content[0].source.type',
      'PDFs, URLs and files are not supported',
    ],
    [
      'a document by URL',
      { messages: [user([{ type: 'document', source: { type: 'url', url: 'https://a.example' } }])] },
      'messages[0].content[0].source.type',
      'PDFs, URLs and files are not supported',
    ],
    [
      'a container upload',
      { messages: [user([{ type: 'container_upload', file_id: 'f' }])] },
      'messages[0].content[0].type',
      'uploads to a container are not supported',
    ],
    [
      'an unknown block',
      { messages: [user('Hi'), assistant([{ type: 'hologram' }]), user('?')] },
      'messages[1].content[0].type',
      "got 'hologram'",
    ],
    ['a call of the user', { messages: [user([used('a')])] }, 'messages[0].content[0].type', "got 'tool_use'"],
    ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role', "'user', 'assistant' or 'system'"],
    ['no content', { messages: [{ role: 'user' }] }, 'messages[0].content', 'expected a string or an array of blocks'],
    ['a system prompt with an image', { system: [image] }, 'system[0].type', 'images are not supported'],
    [
      'a tool of Anthropic',
      { tools: [tool, { type: 'web_search_20250305', name: 'web_search' }] },
      'tools[1].type',
      "'web_search_20250305' is not supported",
    ],
    [
      'a type of a tool that is no text',
      { tools: [{ ...tool, type: { toString: 1 } }] },
      'tools[0].type',
      'this tool type is not supported',
    ],
    ['a tool without a schema', { tools: [{ name: 'look' }] }, 'tools[0].input_schema', 'expected a JSON Schema object'],
    [
      'an MCP server',
      { mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'm' }] },
      'mcp_servers',
      'MCP servers are not supported',
    ],
    ['a container', { container: 'container_1' }, 'container', 'containers are not supported'],
    ['too many stop sequences', { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, 'stop_sequences', 'at most 4'],
    ['an unknown kind of thinking', { thinking: { type: 'quantum' } }, 'thinking.type', 'between_tools'],
    [
      'an unknown format',
      { output_config: { format: { type: 'xml', schema: {} } } },
      'output_config.format.type',
      "expected 'json_schema'",
    ],
  ])('is a 400 that names it where ignoring would change the answer (bug 23): %s', (_, body, param, message) => {
    expect(refusal(body)).toMatchObject({ status: 400, param, message: expect.stringContaining(message) });
  });

  test('can have empty MCP servers and an empty container', () => {
    expect(read({ mcp_servers: [], container: {} }).model).toBe('m');
  });

  test.each([
    [{ type: 'any' }, undefined, 'tool_choice'],
    [{ type: 'tool', name: 'look' }, [], 'tool_choice'],
    [{ type: 'tool', name: 'other' }, [tool], 'tool_choice.name'],
  ])('can only choose one of its tools: %j of %j', (tool_choice, tools, param) => {
    expect(refusal({ tool_choice, tools })).toMatchObject({ status: 400, param });
  });

  test('can have 512 tools, with names of up to 128 characters', () => {
    const tools = Array.from({ length: 512 }, (_, index) => ({ ...tool, name: `${'x'.repeat(124)}_${index}` }));
    expect(read({ tools }).body.tools).toHaveLength(512);
    expect(refusal({ tools: [...tools, tool] }).param).toBe('tools');
  });
});

describe('a last message of the assistant', () => {
  const messages = [user('Hi'), assistant('He')];

  test('is continued, unless a system message follows it', () => {
    expect(read({ messages }).conversation.continues).toBe(true);
    expect(read({ messages: [...messages, system('Be brief.')] }).conversation.continues).toBe(false);
    expect(read({ messages: [...messages, user('?')] }).conversation.continues).toBe(false);
  });

  test('can not be continued with thinking', () => {
    expect(refusal({ messages, thinking: { type: 'adaptive' } })).toMatchObject({ status: 400, param: 'thinking' });
    expect(read({ messages, thinking: { type: 'disabled' } }).conversation.continues).toBe(true);
  });
});

describe('a request to count tokens', () => {
  test('is the same without max_tokens', () => {
    expect(readCount({ max_tokens: undefined }).body.max_tokens).toBeUndefined();
    expect(readCount({ max_tokens: 5 }).conversation).toEqual(read({ max_tokens: 5 }).conversation);
    expect(() => readCount({ messages: [user([image])] })).toThrow('images are not supported');
  });
});
