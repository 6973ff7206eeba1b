import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIResponsesModel, Runner, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import * as z from 'zod';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { parseEvents } from '../../support/clients/responses-replies.ts';

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
      // A reply of random words can be longer than any limit.
      modelSettings: { maxTokens: 400, temperature: 0 },
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

describe('OpenAI’s client with tools as Codex has them', () => {
  const tools = [
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Edits files.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
    },
    {
      type: 'namespace',
      name: 'clock',
      description: 'Clocks.',
      tools: [{ type: 'function', name: 'now', parameters: { type: 'object' } }],
    },
    { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: { type: 'object' } },
    { type: 'local_shell' },
    { type: 'web_search' },
  ];
  const question = { role: 'user', content: 'Please use apply_patch, clock__now, tool_search and local_shell.' };
  const fixed = { model: 'sluice-tiny', tools, store: false, max_output_tokens: 400, include: ['reasoning.encrypted_content'] };
  const client = (): OpenAI => new OpenAI({ apiKey: run.api_key, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
  const create = async (input: unknown[]) => {
    const { data, response } = await client()
      .responses.create({ ...fixed, input } as never)
      .withResponse();
    return { output: (data as { output: { type: string; call_id: string }[] }).output, ignored: response.headers.get('x-sluice-ignored') };
  };

  test('gets a call of each kind, and answers with their results', async () => {
    const { output, ignored } = await create([question]);
    expect(ignored).toBe('tools.web_search');
    expect(output).toMatchObject([
      { type: 'custom_tool_call', name: 'apply_patch', input: expect.any(String) },
      { type: 'function_call', name: 'now', namespace: 'clock' },
      { type: 'tool_search_call', execution: 'client', arguments: {} },
      { type: 'local_shell_call', action: { type: 'exec', command: [] } },
    ]);
    const [patch, now, search, shell] = output.map(({ call_id }) => call_id);
    const results = [
      { type: 'custom_tool_call_output', call_id: patch, output: 'Patched.' },
      { type: 'function_call_output', call_id: now, output: 'Noon.' },
      {
        type: 'tool_search_output',
        call_id: search,
        execution: 'client',
        status: 'completed',
        tools: [{ type: 'function', name: 'found' }],
      },
      { type: 'local_shell_call_output', id: shell, output: 'Listed.' },
    ];
    const answer = await create([question, ...output, ...results]);
    expect(answer.output).toMatchObject([{ type: 'message', content: [{ text: expect.stringContaining('Listed.') }] }]);
    const next = await create([question, ...output, ...results, { role: 'user', content: 'Please use found.' }]);
    expect(next.output).toMatchObject([{ type: 'function_call', name: 'found' }]);
  });

  test('streams a call of each kind', async () => {
    const types = new Set<string>();
    const events = await client().responses.create({ ...fixed, input: [question], stream: true } as never);
    for await (const { type } of events as unknown as AsyncIterable<{ type: string }>) types.add(type);
    expect([...types]).toEqual(expect.arrayContaining(['response.custom_tool_call_input.done', 'response.function_call_arguments.done']));
  });

  test('gets its tools in an item, as the newer models of Codex have them', async () => {
    const additional = { type: 'additional_tools', role: 'developer', tools: [{ ...tools[1], name: 'functions' }] };
    const { data } = await client()
      .responses.create({ ...fixed, tools: undefined, input: [additional, { role: 'user', content: 'Please use now.' }] } as never)
      .withResponse();
    expect((data as { output: object[] }).output).toMatchObject([{ type: 'function_call', name: 'now' }]);
    expect((data as { output: object[] }).output[0]).not.toHaveProperty('namespace');
  });

  test('compacts a conversation, and goes on with the summary', async () => {
    const { output } = await create([question, { role: 'assistant', content: 'Done.' }, { type: 'compaction_trigger' }]);
    expect(output).toMatchObject([{ type: 'compaction', encrypted_content: expect.stringMatching(/./) }]);
    expect((await create([...output, { role: 'user', content: 'What is a lock?' }])).output).toMatchObject([{ type: 'message' }]);
  });
});

describe('a response, as Open Responses defines it', () => {
  const nullable = <Type extends z.ZodType>(type: Type) => z.union([type, z.null()]);
  const OpenItem = z.discriminatedUnion('type', [
    z.object({
      type: z.literal('message'),
      id: z.string(),
      status: z.string(),
      role: z.literal('assistant'),
      content: z.array(
        z.object({ type: z.literal('output_text'), text: z.string(), annotations: z.array(z.object({})), logprobs: z.array(z.object({})) }),
      ),
    }),
    z.object({
      type: z.literal('function_call'),
      id: z.string(),
      call_id: z.string(),
      name: z.string(),
      arguments: z.string(),
      status: z.string(),
    }),
  ]);
  const OpenResponse = z.object({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    completed_at: nullable(z.int()),
    status: z.string(),
    incomplete_details: nullable(z.object({ reason: z.string() })),
    model: z.string(),
    previous_response_id: nullable(z.string()),
    instructions: nullable(z.string()),
    output: z.array(OpenItem),
    error: nullable(z.object({ code: z.string(), message: z.string() })),
    tools: z.array(
      z.object({
        type: z.literal('function'),
        name: z.string(),
        description: nullable(z.string()),
        parameters: nullable(z.object({})),
        strict: nullable(z.boolean()),
      }),
    ),
    tool_choice: z.enum(['none', 'auto', 'required']),
    truncation: z.enum(['auto', 'disabled']),
    parallel_tool_calls: z.boolean(),
    text: z.object({ format: z.object({ type: z.literal('text') }) }),
    top_p: z.number(),
    presence_penalty: z.number(),
    frequency_penalty: z.number(),
    top_logprobs: z.int(),
    temperature: z.number(),
    reasoning: nullable(z.object({ effort: nullable(z.string()), summary: nullable(z.string()) })),
    usage: nullable(
      z.object({
        input_tokens: z.int(),
        output_tokens: z.int(),
        total_tokens: z.int(),
        input_tokens_details: z.object({ cache_write_tokens: z.int(), cached_tokens: z.int() }),
        output_tokens_details: z.object({ reasoning_tokens: z.int() }),
      }),
    ),
    max_output_tokens: nullable(z.int()),
    max_tool_calls: nullable(z.int()),
    store: z.boolean(),
    background: z.boolean(),
    service_tier: z.string(),
    metadata: z.object({}),
    safety_identifier: nullable(z.string()),
    prompt_cache_key: nullable(z.string()),
  });
  const message = (content: string, role = 'user') => ({ type: 'message', role, content });
  const weather = { type: 'function', ...about, parameters: { type: 'object', properties: { place: { type: 'string' } } } };
  const inTurns = [message('My name is Alice.'), message('Hello Alice!', 'assistant'), message('What is my name?')];

  test.each<[string, object, string]>([
    ['a text', { input: [message('Say hello in exactly 3 words.')] }, 'message'],
    ['a streamed text', { input: [message('Count from 1 to 5.')], stream: true }, 'message'],
    ['a system prompt', { input: [message('You are a pirate.', 'system'), message('Say hello.')] }, 'message'],
    ['a tool call', { input: [message('Please use get_weather.')], tools: [weather] }, 'function_call'],
    ['a streamed tool call', { input: [message('Please use get_weather.')], tools: [weather], stream: true }, 'function_call'],
    ['several turns', { input: inTurns }, 'message'],
  ])('passes its case of %s', async (_, body, type) => {
    const reply = await fetch(`${run.base_url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${run.api_key}` },
      // A reply of random words can be longer than any limit.
      body: JSON.stringify({ model: 'sluice-tiny', max_output_tokens: 400, temperature: 0, ...body }),
    });
    const text = await reply.text();
    const whole: unknown = reply.headers.get('content-type')?.startsWith('text/event-stream')
      ? parseEvents(text).at(-1)?.response
      : JSON.parse(text);
    const response = OpenResponse.parse(whole);
    expect(response.status).toBe('completed');
    expect(response.output.map((item) => item.type)).toContain(type);
  });
});
