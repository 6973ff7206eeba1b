import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Chunk,
  type Completion,
  type Container,
  chunksOf,
  eventsOf,
  invoke,
  refusalOf,
  startContainer,
  tokenizer,
} from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer();
});
afterAll(() => container.close());

const parameters = {
  type: 'object',
  properties: { city: { type: 'string', default: 'Delft' }, days: { type: 'integer', minimum: 2 } },
  required: ['city', 'days'],
};
const tools = [
  { type: 'function', function: { name: 'get_weather', description: 'The weather of a city.', parameters } },
  { type: 'function', function: { name: 'clock' } },
];
const WEATHER = '{"city":"Delft","days":2}';
const say = (content: string) => ({ messages: [{ role: 'user', content }] });
const NAMED = { tool_choice: { type: 'function', function: { name: 'clock' } } };

const choiceOf = async (fields: object): Promise<Completion['choices'][number]> => {
  const reply = (await (await invoke(container, { ...say('Hello'), tools, seed: 1, max_tokens: 200, ...fields })).json()) as Completion;
  if (!reply.choices?.[0]) throw new Error(JSON.stringify(reply));
  return reply.choices[0];
};

const callsOf = async (fields: object): Promise<string[]> =>
  (await choiceOf(fields)).message.tool_calls.map(({ function: { name, arguments: text } }) => `${name}${text}`);

describe('a tool', () => {
  test('is called with the smallest arguments that fit if a call is required, the first of several', async () => {
    const choice = await choiceOf({ tool_choice: 'required' });
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', stop_reason: null, message: { content: null } });
    expect(choice.message.tool_calls).toEqual([
      {
        id: expect.stringMatching(/^chatcmpl-tool-[0-9a-f]{32}$/),
        type: 'function',
        function: { name: 'get_weather', arguments: WEATHER },
      },
    ]);
  });

  test('is called if it is named; the finish reason is `stop`', async () => {
    const choice = await choiceOf(NAMED);
    expect(choice.finish_reason).toBe('stop');
    expect(choice.message).toMatchObject({ content: null, tool_calls: [{ function: { name: 'clock', arguments: '{}' } }] });
  });

  test.each([
    ['Please ask get_weather.', [`get_weather${WEATHER}`]],
    ['clock? get_weather!', [`get_weather${WEATHER}`, 'clock{}']],
    ['The clocks of get_weather_report', []],
    ['my-clock', []],
    ['What a day.', []],
  ])('is called automatically if the user mentions its name: %j', async (content, calls) => {
    expect(await callsOf(say(content))).toEqual(calls);
    expect((await choiceOf(say(content))).finish_reason === 'tool_calls').toBe(calls.length > 0);
    expect(await callsOf({ ...say(content), parallel_tool_calls: false })).toEqual(calls.slice(0, 1));
    expect(await callsOf({ ...say(content), tool_choice: 'none' })).toEqual([]);
  });

  test('is not called because of an earlier message', async () => {
    const messages = [...say('clock').messages, { role: 'assistant', content: 'Yes?' }, { role: 'user', content: 'Nothing.' }];
    expect(await callsOf({ messages })).toEqual([]);
  });

  test('has the finish reason `length` if max_tokens truncates its call', async () => {
    const choice = await choiceOf({ tool_choice: 'required', max_tokens: 12 });
    expect(choice.finish_reason).toBe('length');
    const [call] = choice.message.tool_calls;
    expect(WEATHER.startsWith(call?.function.arguments ?? '')).toBe(true);
    expect(call?.function.arguments).not.toBe(WEATHER);
  });

  test('returns a 400 when it is called with unsupported parameters', async () => {
    const odd = [{ type: 'function', function: { name: 'odd', parameters: { properties: { a: { if: {} } }, required: ['a'] } } }];
    const error = await refusalOf(container, { tools: odd, tool_choice: 'required' });
    expect(error.message).toBe("The JSON schema can't be used: the keyword 'if' is not supported.");
    expect(await callsOf({ tools: odd })).toEqual([]);
  });

  test('adds prompt tokens', async () => {
    const promptTokens = async (fields: object) => {
      const reply = (await (await invoke(container, { ...say('Hello'), max_tokens: 1, ...fields })).json()) as Completion;
      return reply.usage?.prompt_tokens ?? 0;
    };
    expect(await promptTokens({ tools })).toBeGreaterThan(
      (await promptTokens({})) + tokenizer.encodeText(JSON.stringify(tools)).length / 2,
    );
  });
});

describe('a stream of tool calls', () => {
  test('starts each call with its id and name, followed by its arguments', async () => {
    const body = { ...say('clock and get_weather'), tools, stream: true, return_token_ids: true, stream_options: { include_usage: true } };
    const chunks: Chunk[] = chunksOf(eventsOf(await (await invoke(container, body)).text()));
    const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    for (const [index, [name, text]] of [
      ['get_weather', WEATHER],
      ['clock', '{}'],
    ].entries()) {
      const own = deltas.filter((delta) => delta.index === index);
      const id = expect.stringMatching(/^chatcmpl-tool-[0-9a-f]{32}$/);
      expect(own[0]).toEqual({ index, id, type: 'function', function: { name, arguments: '' } });
      expect(own.slice(1).every((delta) => delta.id === undefined && delta.function.name === undefined)).toBe(true);
      expect(own.map((delta) => delta.function.arguments).join('')).toBe(text);
    }
    expect(new Set(deltas.map(({ id }) => id)).size).toBe(2 + 1);
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'tool_calls' });
    expect(chunks.flatMap(({ choices }) => choices[0]?.token_ids ?? [])).toHaveLength(chunks.at(-1)?.usage?.completion_tokens ?? 0);
  });

  test('has separate calls in each choice', async () => {
    const body = { ...say('x'), tools, ...NAMED, stream: true, n: 2 };
    const chunks: Chunk[] = chunksOf(eventsOf(await (await invoke(container, body)).text()));
    const ids = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? [])).flatMap(({ id }) => id ?? []);
    expect(new Set(ids).size).toBe(2);
  });
});

describe('a tool result', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'get_weather', arguments: WEATHER } });
  const history = [...say('get_weather').messages, { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] }];

  test('appears in full in the answer', async () => {
    const messages = [
      ...history,
      { role: 'tool', tool_call_id: 'a', content: 'Rain, 9 °C' },
      { role: 'tool', tool_call_id: 'b', content: 'Sun' },
    ];
    const { message, finish_reason } = await choiceOf({ messages });
    expect(message.content).toContain('Rain, 9 °C');
    expect(message.content).toContain('Sun');
    expect(finish_reason).toBe('stop');
  });

  test('is truncated by max_tokens', async () => {
    const messages = [...history, { role: 'tool', tool_call_id: 'a', content: 'water '.repeat(50) }];
    expect(await choiceOf({ messages, max_tokens: 20 })).toMatchObject({ finish_reason: 'length' });
  });
});
