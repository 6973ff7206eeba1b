import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import * as z from 'zod';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
beforeAll(async () => {
  run = await shareTestRun();
});
afterAll(async () => {
  await run.close();
});

const chat = (fields: object = {}): ChatOpenAI =>
  new ChatOpenAI({
    model: 'sluice-tiny',
    apiKey: run.api_key,
    maxTokens: 60,
    maxRetries: 0,
    useResponsesApi: false,
    configuration: { baseURL: `${run.base_url}/v1` },
    ...fields,
  });

const weather = tool(async ({ place }: { place: string }) => `Rain in ${place}.`, {
  name: 'get_weather',
  description: 'The weather of a place.',
  schema: z.object({ place: z.enum(['Delft']) }),
});
const Person = z.object({ name: z.enum(['Ann']), age: z.int().min(3) });

describe('LangChain', () => {
  test('invokes a model', async () => {
    const answer = await chat({ temperature: 0 }).invoke('What is a sluice?');
    expect(answer.text).toMatch(/\w+ \w+/);
    expect(answer.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) });
  });

  test('streams a text and reports its usage', async () => {
    const usages: unknown[] = [];
    let text = '';
    for await (const chunk of await chat({ streamUsage: true }).stream('What is a sluice?')) {
      text += chunk.text;
      if (chunk.usage_metadata) usages.push(chunk.usage_metadata);
    }
    expect(text).toMatch(/\w+ \w+/);
    expect(usages).toEqual([expect.objectContaining({ input_tokens: expect.any(Number) })]);
  });

  test('binds tools and answers with their results', async () => {
    const bound = chat({ maxTokens: 100 }).bindTools([weather]);
    const messages = [new HumanMessage('Please use get_weather.')];
    const toolCallMessage = await bound.invoke(messages);
    const [call] = toolCallMessage.tool_calls ?? [];
    expect(call).toMatchObject({ name: 'get_weather', args: { place: 'Delft' } });
    const result = (await weather.invoke(call as never)) as ToolMessage;
    const answer = await bound.invoke([...messages, toolCallMessage, result]);
    expect(answer.text).toContain('Rain in Delft.');
  });

  test('returns structured output in JSON mode', async () => {
    const answer = await chat().withStructuredOutput(z.looseObject({}), { method: 'jsonMode' }).invoke('Describe a lock as JSON.');
    expect(answer).toEqual(expect.any(Object));
  });

  test('returns structured output through function calling', async () => {
    const answer = await chat({ maxTokens: 100 })
      .withStructuredOutput(Person, { method: 'functionCalling', name: 'person' })
      .invoke('Who?');
    expect(answer).toEqual({ name: 'Ann', age: 3 });
  });
});
