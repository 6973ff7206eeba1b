import { describe, expect, test } from '@jest/globals';
import { callDelta, ended, facts, stream, whole } from '../../../../support/clients/responses-replies.ts';

const tools = [
  { type: 'function', name: 'f' },
  { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
  {
    type: 'namespace',
    name: 'mcp__time',
    tools: [
      { type: 'function', name: 'now' },
      { type: 'custom', name: 'note' },
    ],
  },
  { type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] },
  { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
  { type: 'local_shell' },
];

const at = (prefix: string): string => `${prefix}_${facts.id.slice('resp_'.length)}_0`;
const common = { call_id: 'c', status: 'completed' };
const shell = { type: 'exec', command: ['ls', '-l'], timeout_ms: 5, working_directory: '/tmp', env: { A: 'b' }, user: null };

const kinds: [string, string, string, Record<string, unknown>, string[]][] = [
  [
    'a function',
    'f',
    '{"x":1}',
    { ...common, id: at('fc'), type: 'function_call', name: 'f', arguments: '{"x":1}' },
    ['function_call_arguments.delta', 'function_call_arguments.done'],
  ],
  [
    'a function of a namespace',
    'mcp__time__now',
    '{}',
    { ...common, id: at('fc'), type: 'function_call', name: 'now', namespace: 'mcp__time', arguments: '{}' },
    ['function_call_arguments.delta', 'function_call_arguments.done'],
  ],
  [
    'a custom tool',
    'apply_patch',
    '{"input":"*** Begin\\nEnd"}',
    { ...common, id: at('ctc'), type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin\nEnd' },
    ['custom_tool_call_input.delta', 'custom_tool_call_input.done'],
  ],
  [
    'a custom tool of a namespace',
    'mcp__time__note',
    '{"input":"x"}',
    { ...common, id: at('ctc'), type: 'custom_tool_call', name: 'note', namespace: 'mcp__time', input: 'x' },
    ['custom_tool_call_input.delta', 'custom_tool_call_input.done'],
  ],
  [
    'a tool of Codex’ default namespace',
    'exec',
    'text("a")',
    { ...common, id: at('ctc'), type: 'custom_tool_call', name: 'exec', input: 'text("a")' },
    ['custom_tool_call_input.delta', 'custom_tool_call_input.done'],
  ],
  [
    'a search of tools',
    'tool_search',
    '{"query":"time","limit":2}',
    { ...common, id: at('tsc'), type: 'tool_search_call', execution: 'client', arguments: { query: 'time', limit: 2 } },
    [],
  ],
  [
    'a search with arguments that are no object',
    'tool_search',
    'time',
    { ...common, id: at('tsc'), type: 'tool_search_call', execution: 'client', arguments: { _raw: 'time' } },
    [],
  ],
  [
    'a local shell',
    'local_shell',
    '{"command":["ls","-l"],"timeout_ms":5,"working_directory":"/tmp","env":{"A":"b","B":1}}',
    { ...common, id: at('lsc'), type: 'local_shell_call', action: shell },
    [],
  ],
  [
    'a tool that was not offered',
    'unknown',
    '{}',
    { ...common, id: at('fc'), type: 'function_call', name: 'unknown', arguments: '{}' },
    ['function_call_arguments.delta', 'function_call_arguments.done'],
  ],
];

describe('a call of', () => {
  test.each(kinds)('%s is an item with the client’s names, whole and streamed', async (_, name, args, item, types) => {
    const chunks = [callDelta(0, { id: 'c', function: { name, arguments: args } }), ended('tool_calls')];
    expect((await whole([chunks], { tools })).output).toEqual([item]);
    const events = await stream([chunks], { tools });
    expect(events.slice(2, -1).map(({ type }) => type.slice('response.'.length))).toEqual([
      'output_item.added',
      ...types,
      'output_item.done',
    ]);
    const { added, done } = Object.fromEntries(
      events.flatMap(({ type, item: of }) => (type.startsWith('response.output_item.') ? [[type.split('.').at(-1), of]] : [])),
    );
    const { status: _status, arguments: _args, input: _input, action: _action, ...identity } = item;
    expect(added).toMatchObject({ ...identity, status: 'in_progress' });
    expect(done).toEqual(item);
    expect(events.at(-1)?.response.output).toEqual([item]);
  });

  test.each(kinds)('%s has the same arguments in one delta for each character', async (_, name, args, item) => {
    const chunks = [
      callDelta(0, { id: 'c', function: { name, arguments: '' } }),
      ...args.split('').map((character) => callDelta(0, { function: { arguments: character } })),
      ended('tool_calls'),
    ];
    const events = await stream([chunks], { tools });
    expect(events.at(-1)?.response.output).toEqual([item]);
    const deltas = events.flatMap(({ type, delta, item_id }) => (/(arguments|input)\.delta$/.test(type) ? [[item_id, delta]] : []));
    const text = item.input ?? (typeof item.arguments === 'string' ? item.arguments : undefined);
    if (text !== undefined) expect(deltas.map(([, delta]) => delta).join('')).toBe(text);
    for (const [id] of deltas) expect(id).toBe(item.id);
  });

  test('a custom tool is incomplete if the answer was cut off, with what came before', async () => {
    const chunks = [callDelta(0, { id: 'c', function: { name: 'apply_patch', arguments: '{"input":"*** Be' } }), ended('length')];
    const { status, output } = await whole([chunks], { tools });
    expect({ status, output }).toMatchObject({ status: 'incomplete', output: [{ status: 'incomplete', input: '*** Be' }] });
  });
});

test('a response repeats the tools as they were sent, without those that do not run here', async () => {
  const own = { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] };
  const mixed = { ...own, tools: [...own.tools, { type: 'web_search' }] };
  const sent = [...tools.slice(1), mixed, { type: 'web_search' }, { type: 'tool_search' }];
  expect((await whole([[ended()]], { tools: sent })).tools).toEqual([...tools.slice(1), own]);
});
