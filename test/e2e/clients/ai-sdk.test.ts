import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateText, Output, stepCountIs, streamText, tool } from 'ai';
import * as z from 'zod';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
beforeAll(async () => {
  run = await shareTestRun();
});
afterAll(async () => {
  await run.close();
});

const model = (name = 'sluice-tiny') =>
  createOpenAICompatible({ name: 'sluice', baseURL: `${run.base_url}/v1`, apiKey: run.api_key, includeUsage: true })(name);

const weather = tool({
  description: 'The weather of a place.',
  inputSchema: z.object({ place: z.enum(['Delft']) }),
  execute: async ({ place }) => `Rain in ${place}.`,
});

describe('the Vercel AI SDK', () => {
  test('generates a text and reports its usage', async () => {
    const { text, usage, finishReason } = await generateText({ model: model(), prompt: 'What is a sluice?', maxOutputTokens: 30 });
    expect(text).toMatch(/\w+ \w+/);
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(['stop', 'length']).toContain(finishReason);
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

  test('generates an object', async () => {
    const { output } = await generateText({ model: model(), prompt: 'Describe a lock.', output: Output.json(), maxOutputTokens: 40 });
    expect(output).toEqual(expect.any(Object));
  });

  test('separates reasoning from the answer', async () => {
    const { reasoningText, text } = await generateText({
      model: model('sluice-tiny-reasoning'),
      prompt: 'What is a sluice?',
      maxOutputTokens: 200,
    });
    expect(reasoningText).toMatch(/\w/);
    expect(text).not.toContain(reasoningText);
  });

  test('reports the error of a rejected request', async () => {
    await expect(generateText({ model: model('nope'), prompt: 'Hi', maxRetries: 0 })).rejects.toMatchObject({
      statusCode: 404,
      message: expect.stringContaining("'nope'"),
    });
  });
});
