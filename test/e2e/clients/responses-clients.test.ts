import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIResponsesModel, Runner, setTracingDisabled, tool } from '@openai/agents';
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

const Place = z.object({ place: z.enum(['Delft']) });
const about = { name: 'get_weather', description: 'The weather of a place.' };

describe('LangChain with the Responses API', () => {
  const weather = langchainTool(async ({ place }: { place: string }) => `Rain in ${place}.`, { ...about, schema: Place });
  const chat = (fields: object = {}): ChatOpenAI =>
    new ChatOpenAI({
      model: 'sluice-tiny',
      apiKey: run.api_key,
      maxTokens: 100,
      maxRetries: 0,
      useResponsesApi: true,
      configuration: { baseURL: `${run.base_url}/v1` },
      ...fields,
    });

  test('invokes a model', async () => {
    const answer = await chat({ temperature: 0 }).invoke('What is a sluice?');
    expect(answer.text).toMatch(/\w+ \w+/);
    expect(answer.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) });
  });

  test('streams a text and reports its usage', async () => {
    const usages: unknown[] = [];
    let text = '';
    for await (const chunk of await chat().stream('What is a sluice?')) {
      text += chunk.text;
      if (chunk.usage_metadata) usages.push(chunk.usage_metadata);
    }
    expect(text).toMatch(/\w+ \w+/);
    expect(usages).toEqual([expect.objectContaining({ input_tokens: expect.any(Number) })]);
  });

  test.each([['sluice-tiny'], ['sluice-tiny-reasoning']])('binds tools to %s and answers with their results', async (model) => {
    const bound = chat({ model, maxTokens: 400 }).bindTools([weather]);
    const messages = [new HumanMessage('Please use get_weather.')];
    const toolCallMessage = await bound.invoke(messages);
    const [call] = toolCallMessage.tool_calls ?? [];
    expect(call).toMatchObject({ name: 'get_weather', args: { place: 'Delft' } });
    const result = (await weather.invoke(call as never)) as ToolMessage;
    const answer = await bound.invoke([...messages, toolCallMessage, result]);
    expect(answer.text).toContain('Rain in Delft.');
  });

  test('gets the reasoning in full or as a streamed summary', async () => {
    const plain = { model: 'sluice-tiny-reasoning', maxTokens: 400 };
    const { additional_kwargs } = await chat(plain).invoke('What is a sluice?');
    expect(additional_kwargs.reasoning).toMatchObject({ content: [{ type: 'reasoning_text', text: expect.stringMatching(/\w/) }] });
    // By itself, it sends `reasoning` only to models whose names it knows.
    const summarizing = chat({ ...plain, modelKwargs: { reasoning: { effort: 'low', summary: 'auto' } } });
    let thought = '';
    for await (const { contentBlocks } of await summarizing.stream('What is a sluice?'))
      for (const block of contentBlocks) if (block.type === 'reasoning') thought += block.reasoning;
    expect(thought).toMatch(/\w+ \w+/);
  });
});

describe('the OpenAI Agents SDK with the Responses API', () => {
  const weather = tool({ ...about, parameters: Place, execute: async ({ place }) => `Rain in ${place}.` });
  const agent = (model = 'sluice-tiny'): Agent =>
    new Agent({
      name: 'Helper',
      instructions: 'Be brief.',
      model: new OpenAIResponsesModel(new OpenAI({ apiKey: run.api_key, baseURL: `${run.base_url}/v1`, maxRetries: 0 }) as never, model),
      modelSettings: { maxTokens: 400 },
      tools: [weather],
    });

  test.each([['sluice-tiny'], ['sluice-tiny-reasoning']])('calls a tool with %s and answers with its result', async (model) => {
    const result = await new Runner().run(agent(model), 'Please use get_weather.');
    expect(result.finalOutput).toContain('Rain in Delft.');
  });

  test('continues a conversation from replayed items and from previous_response_id', async () => {
    const runner = new Runner();
    const first = await runner.run(agent(), 'Please use get_weather.');
    const replayed = await runner.run(agent(), [...first.history, { role: 'user', content: 'And what is a lock?' }]);
    expect(replayed.finalOutput).toMatch(/\w+/);
    const remembered = await runner.run(agent(), 'And what is a lock?', { previousResponseId: first.lastResponseId as string });
    expect(remembered.finalOutput).toMatch(/\w+/);
  });

  test('streams a tool call and the answer', async () => {
    const result = await new Runner().run(agent(), 'Please use get_weather.', { stream: true });
    let text = '';
    for await (const part of result.toTextStream()) text += String(part);
    await result.completed;
    expect(text).toContain('Rain in Delft.');
  });
});
