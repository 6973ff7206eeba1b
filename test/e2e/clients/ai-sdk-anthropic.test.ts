import { createAnthropic } from '@ai-sdk/anthropic';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateText, isStepCount, Output, streamText, tool } from 'ai';
import * as z from 'zod';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
beforeAll(async () => {
  run = await shareTestRun();
});
afterAll(async () => {
  await run.close();
});

const model = (name = 'sluice-tiny') => createAnthropic({ baseURL: `${run.base_url}/v1`, apiKey: run.api_key })(name);

const weather = tool({
  description: 'The weather of a place.',
  inputSchema: z.object({ place: z.enum(['Delft']) }),
  execute: async ({ place }) => `Rain in ${place}.`,
});

const thoughtful = {
  prompt: 'What is a sluice?',
  maxOutputTokens: 400,
  providerOptions: { anthropic: { thinking: { type: 'adaptive' } } },
} as const;

// Its schemas of events are strict: a field of the wrong type fails the call.
describe('the Vercel AI SDK with the Messages API', () => {
  test('generates a text and reports its usage', async () => {
    const { text, usage, finishReason, response } = await generateText({
      model: model(),
      prompt: 'What is a sluice?',
      maxOutputTokens: 30,
    });
    expect(text).toMatch(/\w+ \w+/);
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(['stop', 'length']).toContain(finishReason);
    expect(response).toMatchObject({ id: expect.stringMatching(/^msg_/), modelId: 'sluice-tiny' });
  });

  test('streams a text and reports its usage', async () => {
    const result = streamText({ model: model(), prompt: 'What is a sluice?', maxOutputTokens: 30 });
    let text = '';
    for await (const part of result.textStream) text += part;
    expect(text).toMatch(/\w+ \w+/);
    expect((await result.usage).inputTokens).toBeGreaterThan(0);
    expect((await result.usage).outputTokens).toBeGreaterThan(0);
  });

  test.each(['generateText', 'streamText'])('runs tools in a loop with %s', async (how) => {
    const ask = {
      model: model(),
      prompt: 'Please use get_weather.',
      tools: { get_weather: weather },
      stopWhen: isStepCount(3),
      maxOutputTokens: 100,
    };
    const result = how === 'generateText' ? await generateText(ask) : streamText(ask);
    expect(await result.text).toContain('Rain in Delft.');
    expect(await result.steps).toHaveLength(2);
  });

  test.each(['generateText', 'streamText'])('separates thinking from the answer with %s, and sends it back', async (how) => {
    const ask = { model: model('sluice-tiny-reasoning'), ...thoughtful };
    const result = how === 'generateText' ? await generateText(ask) : streamText(ask);
    expect(await result.reasoningText).toMatch(/\w/);
    const { messages } = await result.response;
    const { prompt, ...options } = thoughtful;
    const next = await generateText({
      ...options,
      model: model('sluice-tiny-reasoning'),
      messages: [{ role: 'user', content: prompt }, ...messages, { role: 'user', content: 'And what is a lock?' }],
    });
    expect(next.text).toMatch(/\w/);
  });

  test('generates an object by a forced tool', async () => {
    const { output } = await generateText({
      model: model(),
      prompt: 'Where does it rain?',
      output: Output.object({ schema: z.object({ place: z.enum(['Delft']) }) }),
      maxOutputTokens: 60,
    });
    expect(output).toEqual({ place: 'Delft' });
  });

  test('reports the error of a rejected request', async () => {
    await expect(generateText({ model: model('nope'), prompt: 'Hi', maxRetries: 0 })).rejects.toMatchObject({
      statusCode: 404,
      message: expect.stringContaining("'nope'"),
    });
  });

  test('reports the error of a stream that breaks off', async () => {
    await run.control('container', { fault: { kind: 'destroy', after_tokens: 5, times: 1 } });
    const errors: unknown[] = [];
    const result = streamText({ model: model(), prompt: 'What is a sluice?', onError: ({ error }) => void errors.push(error) });
    await result.consumeStream();
    expect(errors).toEqual([expect.objectContaining({ type: 'api_error' })]);
    await run.control('container');
  });
});
