import { createOpenAI } from '@ai-sdk/openai';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import * as z from 'zod';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
beforeAll(async () => {
  run = await shareTestRun();
});
afterAll(async () => {
  await run.close();
});

const model = (name = 'sluice-tiny') => createOpenAI({ baseURL: `${run.base_url}/v1`, apiKey: run.api_key }).responses(name);
const weather = tool({
  description: 'The weather of a place.',
  inputSchema: z.object({ place: z.enum(['Delft']) }),
  execute: async ({ place }) => `Rain in ${place}.`,
});

describe('the Vercel AI SDK with the Responses API', () => {
  test('generates a text and reports its usage', async () => {
    const { text, usage } = await generateText({ model: model(), prompt: 'What is a sluice?', maxOutputTokens: 30 });
    expect(text).toMatch(/\w+ \w+/);
    expect(usage.outputTokens).toBeGreaterThan(0);
  });

  test('streams a text and reports its usage', async () => {
    const result = streamText({ model: model(), prompt: 'What is a sluice?', maxOutputTokens: 30 });
    let text = '';
    for await (const part of result.textStream) text += part;
    expect(text).toMatch(/\w+ \w+/);
    expect((await result.usage).inputTokens).toBeGreaterThan(0);
  });

  test.each(['generateText', 'streamText'])('runs tools in a loop with %s', async (how) => {
    const ask = {
      model: model(),
      prompt: 'Please use get_weather.',
      tools: { get_weather: weather },
      stopWhen: stepCountIs(3),
      maxOutputTokens: 100,
    };
    const result = how === 'generateText' ? await generateText(ask) : streamText(ask);
    expect(await result.text).toContain('Rain in Delft.');
    expect(await result.steps).toHaveLength(2);
  });

  test('continues a conversation', async () => {
    const first = await generateText({ model: model(), prompt: 'What is a lock?', maxOutputTokens: 20 });
    const messages = [
      { role: 'user' as const, content: 'What is a lock?' },
      ...first.response.messages,
      { role: 'user' as const, content: 'And a weir?' },
    ];
    expect((await generateText({ model: model(), messages, maxOutputTokens: 20 })).text).toMatch(/\w/);
  });

  test('reports the error of a rejected request', async () => {
    await expect(generateText({ model: model('nope'), prompt: 'Hi', maxRetries: 0 })).rejects.toMatchObject({ statusCode: 404 });
  });
});
