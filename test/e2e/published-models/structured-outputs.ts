import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, setTracingDisabled } from '@openai/agents';
import { generateText, Output, streamText } from 'ai';
import OpenAI, { BadRequestError } from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import type { TestRun } from '../../support/clients/local-run.ts';
import { publishedModels, WITHOUT_STRUCTURED_OUTPUTS } from './run.ts';

let run: TestRun;
let client: OpenAI;
beforeAll(async () => {
  setTracingDisabled(true);
  run = await publishedModels.start();
  client = new OpenAI({ apiKey: run.api_key, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
});

// Helpers write definitions and references for a schema that is used twice.
const Lock = z.object({ name: z.enum(['Hattem']), built: z.int().min(1_850).nullable() });
const Canal = z.object({ kind: z.literal('canal'), locks: z.array(Lock).min(1).max(2), gates: z.union([z.literal(2), z.literal(4)]) });
const canal = expect.objectContaining({ kind: 'canal', locks: expect.arrayContaining([expect.objectContaining({ name: 'Hattem' })]) });

const question = 'Which canal has a lock?';
const messages = [{ role: 'user' as const, content: question }];

describe('the OpenAI client', () => {
  test('parses a chat completion', async () => {
    const response_format = zodResponseFormat(Canal, 'canal');
    const { choices } = await client.chat.completions.parse({ model: run.model, messages, max_tokens: 200, response_format });
    const parsed = choices[0]?.message.parsed;
    expect(Canal.parse(parsed)).toEqual(canal);
    expect(parsed?.locks[0]?.name).toBe('Hattem');
  });

  test('parses a stream of a chat completion', async () => {
    const response_format = zodResponseFormat(Canal, 'canal');
    const stream = client.chat.completions.stream({ model: run.model, messages, max_tokens: 200, response_format });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]?.message.parsed).toEqual(canal);
  });

  test.each(['sluice-tiny', 'sluice-tiny-reasoning'])('parses a response of %s', async (model) => {
    const text = { format: zodTextFormat(Canal, 'canal') };
    const { output_parsed } = await client.responses.parse({ model, input: question, max_output_tokens: 400, text });
    expect(Canal.parse(output_parsed)).toEqual(canal);
  });

  test('parses a chat completion of a deployment', async () => {
    const onDemand = new OpenAI({
      apiKey: run.ondemand_api_key,
      baseURL: `${run.ondemand_url}/v1`,
      maxRetries: 0,
      defaultHeaders: { 'x-user-id': '5b1c2b3e-59c0-4d3c-9c8f-0d8f6f0f4f00' },
    });
    const response_format = zodResponseFormat(Canal, 'canal');
    const { choices } = await onDemand.chat.completions.parse({ model: run.ondemand_model, messages, max_tokens: 200, response_format });
    expect(choices[0]?.message.parsed).toEqual(canal);
  });

  test('gets a 400 that says what to do for a model without structured outputs', async () => {
    const parsing = client.chat.completions.parse({
      model: WITHOUT_STRUCTURED_OUTPUTS,
      messages,
      response_format: zodResponseFormat(Canal, 'canal'),
    });
    const refused = { status: 400, code: 'unsupported_parameter', message: expect.stringContaining('capabilities.structured_outputs') };
    await expect(parsing).rejects.toThrow(BadRequestError);
    await expect(parsing).rejects.toMatchObject({ ...refused, param: 'response_format' });
    const text = { format: zodTextFormat(Canal, 'canal') };
    await expect(client.responses.parse({ model: WITHOUT_STRUCTURED_OUTPUTS, input: question, text })).rejects.toMatchObject({
      ...refused,
      param: 'text.format',
    });
  });

  test('gets a 400 that names the place of what no runtime takes', async () => {
    const schema = { type: 'object', properties: { a: { type: 'number', multipleOf: 2 } } };
    const json_schema = { name: 'even', schema };
    const param = 'response_format.json_schema.schema.properties.a.multipleOf';
    await expect(
      client.chat.completions.create({ model: run.model, messages, response_format: { type: 'json_schema', json_schema } }),
    ).rejects.toMatchObject({ status: 400, code: 'invalid_json_schema', param, message: expect.stringContaining(param) });
    await expect(
      client.responses.create({ model: run.model, input: question, text: { format: { type: 'json_schema', ...json_schema } } }),
    ).rejects.toMatchObject({ status: 400, param: 'text.format.schema.properties.a.multipleOf' });
  });
});

describe('LangChain', () => {
  test.each([false, true])('returns structured output in its default way (Responses API: %s)', async (useResponsesApi) => {
    const model = new ChatOpenAI({
      model: run.model,
      apiKey: run.api_key,
      maxTokens: 200,
      maxRetries: 0,
      useResponsesApi,
      configuration: { baseURL: `${run.base_url}/v1` },
    });
    expect(await model.withStructuredOutput(Canal).invoke(question)).toEqual(canal);
  });
});

describe('the OpenAI Agents SDK', () => {
  test.each([
    ['chat completions', OpenAIChatCompletionsModel],
    ['the Responses API', OpenAIResponsesModel],
  ] as const)('returns an output of a type with %s', async (_, Model) => {
    const agent = new Agent({
      name: 'Helper',
      model: new Model(client as never, run.model),
      modelSettings: { maxTokens: 200 },
      outputType: Canal,
    });
    expect((await new Runner().run(agent, question)).finalOutput).toEqual(canal);
  });
});

describe('the Vercel AI SDK', () => {
  const models = (): [string, Parameters<typeof generateText>[0]['model']][] => {
    const address = { baseURL: `${run.base_url}/v1`, apiKey: run.api_key };
    return [
      ['openai-compatible', createOpenAICompatible({ name: 'sluice', ...address, supportsStructuredOutputs: true })(run.model)],
      ['chat', createOpenAI(address).chat(run.model)],
      ['responses', createOpenAI(address).responses(run.model)],
    ];
  };

  test('generates and streams an object with each of its providers', async () => {
    for (const [provider, model] of models()) {
      const request = { model, prompt: question, output: Output.object({ schema: Canal }), maxOutputTokens: 200 };
      expect([provider, (await generateText(request)).output]).toEqual([provider, canal]);
      expect([provider, await streamText(request).output]).toEqual([provider, canal]);
    }
  });
});
