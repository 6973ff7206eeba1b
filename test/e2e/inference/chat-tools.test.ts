import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { zodFunction } from 'openai/helpers/zod';
import * as z from 'zod';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
let client: OpenAI;

beforeAll(async () => {
  run = await shareTestRun();
  client = new OpenAI({ apiKey: run.api_key, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await run.close();
});

const user = (content: string) => ({ role: 'user' as const, content });
const ask = { model: 'sluice-tiny', messages: [user('What is a sluice?')], max_tokens: 40 };
const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather of a place.',
    parameters: { type: 'object', properties: { place: { type: 'string', enum: ['Delft'] } }, required: ['place'] },
  },
};

describe('tools', () => {
  test('work in a loop: the call, its result, and an answer that uses it', async () => {
    const received: unknown[] = [];
    const runner = client.chat.completions.runTools({
      model: 'sluice-tiny',
      messages: [user('Please use get_weather.')],
      max_tokens: 200,
      tools: [
        {
          type: 'function',
          function: {
            ...weather.function,
            parse: JSON.parse,
            function: (given: unknown) => {
              received.push(given);
              return 'Rain until noon.';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain('Rain until noon.');
    expect(received).toEqual([{ place: 'Delft' }]);
  });

  test('stream, and the client assembles the call', async () => {
    const stream = client.chat.completions.stream({
      ...ask,
      messages: [user('get_weather, please')],
      tools: [weather],
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls' });
    expect(choices[0]?.message.tool_calls).toEqual([
      expect.objectContaining({
        type: 'function',
        function: expect.objectContaining({ name: 'get_weather', arguments: '{"place":"Delft"}' }),
      }),
    ]);
    expect(usage?.completion_tokens).toBeGreaterThan(0);
  });

  test.each([
    ['none', 'none' as const, false],
    ['auto, without naming the tool', 'auto' as const, false],
    ['required', 'required' as const, true],
    ['by name', { type: 'function' as const, function: { name: 'get_weather' } }, true],
  ])('are called as tool_choice says: %s', async (_, tool_choice, calls) => {
    const { choices } = await client.chat.completions.create({ ...ask, tools: [weather], tool_choice });
    expect(Boolean(choices[0]?.message.tool_calls)).toBe(calls);
    expect(choices[0]?.message.content === null).toBe(calls);
  });

  test('are parsed by the client into the type of their schema', async () => {
    const tool = zodFunction({ name: 'book', parameters: z.object({ nights: z.int().min(2), breakfast: z.boolean() }) });
    const { choices } = await client.chat.completions.parse({ ...ask, messages: [user('book!')], tools: [tool], max_tokens: 100 });
    expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { parsed_arguments: { nights: 2, breakfast: expect.any(Boolean) } },
    });
  });

  test('work in the deprecated form of functions', async () => {
    const { choices } = await client.chat.completions.create({ ...ask, messages: [user('get_weather')], functions: [weather.function] });
    expect(choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { content: null, function_call: { name: 'get_weather', arguments: '{"place":"Delft"}' } },
    });
    const messages = [
      user('get_weather'),
      choices[0]?.message as OpenAI.ChatCompletionMessageParam,
      { role: 'function' as const, name: 'get_weather', content: 'Rain.' },
    ];
    const answered = await client.chat.completions.create({ ...ask, max_tokens: 100, messages, functions: [weather.function] });
    expect(answered.choices[0]?.message.content).toContain('Rain.');
  });
});
