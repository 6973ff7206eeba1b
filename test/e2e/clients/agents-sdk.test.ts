import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent, OpenAIChatCompletionsModel, Runner, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import * as z from 'zod';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
beforeAll(async () => {
  setTracingDisabled(true);
  run = await shareTestRun();
});
afterAll(async () => {
  await run.close();
});

const weather = tool({
  name: 'get_weather',
  description: 'The weather of a place.',
  parameters: z.object({ place: z.enum(['Delft']) }),
  execute: async ({ place }) => `Rain in ${place}.`,
});

const agent = (): Agent =>
  new Agent({
    name: 'Helper',
    instructions: 'Be brief.',
    model: new OpenAIChatCompletionsModel(
      new OpenAI({ apiKey: run.api_key, baseURL: `${run.base_url}/v1`, maxRetries: 0 }) as never,
      'sluice-tiny',
    ),
    modelSettings: { maxTokens: 100 },
    tools: [weather],
  });

describe('the OpenAI Agents SDK with chat completions', () => {
  test('calls a tool and answers with its result', async () => {
    const result = await new Runner().run(agent(), 'Please use get_weather.');
    expect(result.finalOutput).toContain('Rain in Delft.');
  });

  test('continues a conversation', async () => {
    const runner = new Runner();
    const first = await runner.run(agent(), 'Please use get_weather.');
    const second = await runner.run(agent(), [...first.history, { role: 'user', content: 'And what is a lock?' }]);
    expect(second.finalOutput).toMatch(/\w+/);
  });

  test('streams a tool call and the answer', async () => {
    const result = await new Runner().run(agent(), 'Please use get_weather.', { stream: true });
    let text = '';
    for await (const part of result.toTextStream()) text += String(part);
    await result.completed;
    expect(text).toContain('Rain in Delft.');
  });
});
