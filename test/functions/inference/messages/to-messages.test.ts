import { describe, expect, test } from '@jest/globals';
import { messagesPrompt } from '../../../../functions/inference/messages/to-chat.ts';
import { readJsonBody } from '../../../../shared/http/json/json-body.ts';
import { assistant, model, promptOf, read, refusal, result, system, text, used, user } from './requests.ts';

const made = (id: string, name = 'f', args = '{}') => ({ id, type: 'function', function: { name, arguments: args } });
const tool = (id: string, content = 'done') => ({ role: 'tool', content, tool_call_id: id });

describe('the system prompt', () => {
  test('is one message from a string, from blocks, and from the system messages at the beginning', () => {
    expect(promptOf([user('Hi')], { system: 'A' })).toEqual([system('A'), user('Hi')]);
    expect(promptOf([system('C'), system([text('D')]), user('Hi')], { system: [text('A'), text(''), text('B')] })).toEqual([
      system('A\n\nB\n\nC\n\nD'),
      user('Hi'),
    ]);
    expect(promptOf([user('Hi')], { system: '' })).toEqual([user('Hi')]);
  });

  test.each([
    [[text('x-anthropic-billing-header: cc_version=2.1; cch=1a2b;'), text('You are an agent.')]],
    [[text('x-anthropic-billing-header: cc_version=2.1;\n\nYou are an agent.')]],
    ['x-anthropic-billing-header: cc_version=2.1;\nYou are an agent.'],
  ])('has no billing line, which differs in each request (bug 32): %j', (given) => {
    expect(promptOf([user('Hi')], { system: given })).toEqual([system('You are an agent.'), user('Hi')]);
  });
});

describe('a user message', () => {
  test('has its blocks joined by line breaks, without empty ones (bug 35)', () => {
    expect(promptOf([user([text('One'), text(''), text('two')])])).toEqual([user('One\ntwo')]);
  });

  test('has the text of documents and search results, with their titles', () => {
    const blocks = [
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Locks.' }, title: 'Rivers', context: 'A book' },
      { type: 'document', source: { type: 'content', content: [text('Weirs.')] } },
      { type: 'document', source: { type: 'content', content: 'Gates.' }, title: null },
      { type: 'search_result', title: 'Canals', source: 'https://canals.example', content: [text('Dry.')] },
    ];
    expect(promptOf([user(blocks)])).toEqual([user('Rivers\nA book\nLocks.\nWeirs.\nGates.\nCanals\nhttps://canals.example\nDry.')]);
  });

  test('is merged with the next one', () => {
    expect(promptOf([user('One'), user('two')])).toEqual([user('One\n\ntwo')]);
  });

  test('is left out if it is empty, and then the turns around it are merged (bug 35)', () => {
    expect(promptOf([user('A'), assistant('B'), user(''), assistant([text('C')]), user('D')])).toEqual([
      user('A'),
      assistant('B\nC'),
      user('D'),
    ]);
  });
});

describe('an assistant message', () => {
  test('has its text, its thinking and its calls, whatever signature the thinking has (bug 40)', () => {
    const thinking = [
      { type: 'thinking', thinking: 'Hm.', signature: 'EqQBCkYIARgCKkB+another+service==' },
      { type: 'thinking', thinking: 'So:', signature: '' },
      { type: 'thinking', thinking: '' },
    ];
    const turn = assistant([...thinking, text('Let me look.'), used('a', 'look', { at: 1 }), used('b')]);
    expect(promptOf([user('Hi'), turn, user([result('a'), result('b')])])).toEqual([
      user('Hi'),
      { ...assistant('Let me look.'), reasoning: 'Hm.\nSo:', tool_calls: [made('a', 'look', '{"at":1}'), made('b')] },
      tool('a'),
      tool('b'),
    ]);
  });

  test('has no content if it only calls tools (bug 9)', () => {
    const [, called] = promptOf([user('Hi'), assistant([used('a')]), user([result('a')])]);
    expect(called).toEqual({ role: 'assistant', content: null, tool_calls: [made('a')] });
  });

  test('is merged with the next one', () => {
    expect(promptOf([user('Hi'), assistant('One'), assistant([text('two'), used('a')]), user([result('a')])])).toMatchObject([
      {},
      { content: 'One\ntwo', tool_calls: [made('a')] },
      {},
    ]);
  });

  test('is left out if nothing of it is left', () => {
    const thought = assistant([
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'redacted_thinking', data: 'x' },
    ]);
    expect(promptOf([user('A'), thought, user('B')])).toEqual([user('A\n\nB')]);
  });

  test.each([
    ['an object with its broken text', { __unparsedToolInput: '{"path": "a' }, '{"__unparsedToolInput":"{\\"path\\": \\"a"}'],
    ['a text that is no JSON', '{"path": "a', '{"_raw":"{\\"path\\": \\"a"}'],
    ['a list', [1], '{"_raw":"[1]"}'],
    ['null', null, '{}'],
    ['nothing', undefined, '{}'],
  ])('can have an input that does not fit its tool (bug 7): %s', (_, input, args) => {
    const [, called] = promptOf([user('Hi'), assistant([{ type: 'tool_use', id: 'a', name: 'f', input }]), user([result('a')])]);
    expect(called?.tool_calls).toEqual([made('a', 'f', args)]);
  });

  test('keeps the form of the numbers in inputs', () => {
    const opaque = { fields: new Set(['messages']), keys: new Set(['input']) };
    const messages =
      '[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"x":1.0}}]},';
    const body = `{"messages":${messages}{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`;
    const parsed = readJsonBody({ headers: {}, body } as never, opaque) as Record<string, unknown>;
    expect(messagesPrompt(read(parsed), model).messages[1]?.tool_calls).toEqual([made('a', 'f', '{"x":1.0}')]);
  });
});

describe('the results of a turn', () => {
  const calls = assistant([used('a'), used('b')]);

  test('come directly after the calls and in their order, before the text of the user (bug 36)', () => {
    expect(promptOf([user('Hi'), calls, user([text('And now?'), result('b', 'two'), result('a', [text('one'), text('more')])])])).toEqual([
      user('Hi'),
      { role: 'assistant', content: null, tool_calls: [made('a'), made('b')] },
      tool('a', 'one\nmore'),
      tool('b', 'two'),
      user('And now?'),
    ]);
  });

  test('can be spread over messages, and a call can have several', () => {
    expect(promptOf([user('Hi'), calls, user([result('a', 'one')]), user([result('a', 'more'), result('b')])]).slice(2)).toEqual([
      tool('a', 'one\nmore'),
      tool('b'),
    ]);
  });

  test.each([
    ['no content', { type: 'tool_result', tool_use_id: 'a' }, ''],
    ['an error', result('a', 'No such file', { is_error: true }), 'Error: No such file'],
    ['an error without content', result('a', [], { is_error: true }), 'Error'],
    ['no error', result('a', 'Fine', { is_error: false }), 'Fine'],
    ['a document', result('a', [{ type: 'document', source: { type: 'text', data: 'Locks.' } }]), 'Locks.'],
    ['a search result', result('a', [{ type: 'search_result', title: 'T', source: 's', content: [text('found')] }]), 'T\ns\nfound'],
    ['a reference to a tool', result('a', [{ type: 'tool_reference', tool_name: 'look' }]), 'look'],
  ])('say what the tool returned: %s', (_, block, content) => {
    expect(promptOf([user('Hi'), assistant([used('a')]), user([block])]).at(-1)).toEqual(tool('a', content));
  });

  test.each(['call_a.b:c/d', 'chatcmpl-tool-1', 'toolu_01', 'ä b'])('keep ids of other services (bug 42): %s', (id) => {
    const [, called, answered] = promptOf([user('Hi'), assistant([used(id)]), user([result(id)])]);
    expect(called?.tool_calls?.[0]?.id).toBe(id);
    expect(answered?.tool_call_id).toBe(id);
  });

  test('can have the same ids as earlier turns', () => {
    expect(
      promptOf([user('Hi'), assistant([used('a')]), user([result('a', '1')]), assistant([used('a')]), user([result('a', '2')])]),
    ).toEqual([
      user('Hi'),
      { role: 'assistant', content: null, tool_calls: [made('a')] },
      tool('a', '1'),
      { role: 'assistant', content: null, tool_calls: [made('a')] },
      tool('a', '2'),
    ]);
  });

  test('are required: the error names the call without one (bug 37)', () => {
    expect(refusal({ messages: [user('Hi'), calls, user([result('b')]), assistant('Well')] })).toMatchObject({
      status: 400,
      param: 'messages[2].content',
      message: expect.stringContaining("a tool_result for the tool_use 'a'"),
    });
    expect(refusal({ messages: [user('Hi'), calls, user('Go on')] })).toMatchObject({ param: 'messages[2].content' });
  });

  test('must have a call', () => {
    expect(refusal({ messages: [user([result('x')])] })).toMatchObject({
      param: 'messages[0].content[0].tool_use_id',
      message: expect.stringContaining("has no tool_use with the id 'x'"),
    });
    const later = [user('Hi'), calls, user([result('a'), result('b')]), assistant('So'), user([text('a'), result('a')])];
    expect(refusal({ messages: later })).toMatchObject({ param: 'messages[4].content[1].tool_use_id' });
  });

  test('can answer up to 128 calls', () => {
    const many = (count: number) => {
      const ids = Array.from({ length: count }, (_, index) => `id${index}`);
      return { messages: [user('Hi'), assistant(ids.map((id) => used(id))), user(ids.map((id) => result(id)))] };
    };
    expect(read(many(128)).conversation.messages).toHaveLength(130);
    expect(refusal(many(129))).toMatchObject({ param: 'messages[1].content[128]' });
  });

  test('can be told apart: two calls of a turn have different ids', () => {
    expect(refusal({ messages: [user('Hi'), assistant([used('a'), used('a')]), user([result('a')])] })).toMatchObject({
      param: 'messages[1].content[1].id',
    });
  });
});

describe('the last message', () => {
  test.each([
    [[user('')], 'messages'],
    [[system('Only this')], 'messages'],
    [[user('Hi'), assistant('Hello'), user([])], 'messages[2].content'],
    [[user('Hi'), assistant([used('a')])], 'messages[1].content'],
  ])('must be something to answer: %j', (messages, param) => {
    expect(refusal({ messages })).toMatchObject({ status: 400, param });
  });

  test('is not an empty one of the assistant', () => {
    expect(promptOf([user('Hi'), assistant('')])).toEqual([user('Hi')]);
  });
});
