import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
let client: OpenAI;
const clientOf = (apiKey: string): OpenAI => new OpenAI({ apiKey, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
beforeAll(async () => {
  run = await shareTestRun();
  client = clientOf(run.api_key);
});
afterAll(async () => {
  await run.close();
});

const ask = { model: 'sluice-tiny', input: 'What is a sluice?', max_output_tokens: 40, temperature: 0 };
const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a place.',
  parameters: { type: 'object', properties: { place: { type: 'string', enum: ['Delft'] } }, required: ['place'] },
  strict: null,
};
const failure = async (call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
  try {
    await call;
  } catch (error) {
    return error as InstanceType<typeof OpenAI.APIError>;
  }
  throw new Error('The call succeeded.');
};

describe('the official client with the Responses API', () => {
  test('creates a response and is billed for its usage', async () => {
    const { secret, key_id } = await run.createKey();
    const made = await clientOf(secret).responses.create(ask);
    expect(made).toMatchObject({ object: 'response', model: 'sluice-tiny', error: null });
    expect(made.output_text).toMatch(/\w+ \w+/);
    expect(await run.eventsOf(key_id)).toEqual([
      expect.objectContaining({
        route: '/v1/responses',
        outcome: 'completed',
        prompt_tokens: made.usage?.input_tokens,
        completion_tokens: made.usage?.output_tokens,
      }),
    ]);
  });

  test('streams a response and assembles the same response as its last event has', async () => {
    const stream = client.responses.stream(ask);
    let text = '';
    stream.on('response.output_text.delta', ({ delta }) => {
      text += delta;
    });
    const made = await stream.finalResponse();
    expect(made.output_text).toBe(text);
    expect(text).toBe((await client.responses.create(ask)).output_text);
  });

  test('gets status incomplete when an answer reaches max_output_tokens', async () => {
    const made = await client.responses.create({ ...ask, max_output_tokens: 3 });
    expect(made).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage: { output_tokens: 3 } });
  });

  test('runs a tool loop with previous_response_id', async () => {
    const tools = [weather];
    const stream = client.responses.stream({ ...ask, input: 'Please use get_weather.', max_output_tokens: 200, tools });
    const withCall = await stream.finalResponse();
    const call = withCall.output.find((item) => item.type === 'function_call');
    expect(call).toMatchObject({ name: 'get_weather', arguments: '{"place":"Delft"}', status: 'completed' });
    const output = { type: 'function_call_output' as const, call_id: call?.call_id as string, output: 'Rain until noon.' };
    const more = { ...ask, max_output_tokens: 200, tools };
    const answered = await client.responses.create({ ...more, previous_response_id: withCall.id, input: [output] });
    expect(answered.output_text).toContain('Rain until noon.');
    expect(answered.previous_response_id).toBe(withCall.id);
    const replayed = [{ role: 'user' as const, content: 'Please use get_weather.' }, ...(withCall.output as never[]), output];
    expect((await client.responses.create({ ...more, input: replayed })).output_text).toContain('Rain until noon.');
  });

  test('gets the reasoning in full or as a summary', async () => {
    const thinking = { ...ask, model: 'sluice-tiny-reasoning', max_output_tokens: 300 };
    const stream = client.responses.stream({ ...thinking, reasoning: { effort: 'low' } });
    const made = await stream.finalResponse();
    expect(made.output[0]).toMatchObject({ type: 'reasoning', content: [{ type: 'reasoning_text', text: expect.stringMatching(/\w/) }] });
    const summarized = await client.responses.create({ ...thinking, reasoning: { effort: 'low', summary: 'auto' } });
    expect(summarized.output[0]).toMatchObject({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: expect.stringMatching(/\w/) }],
    });
    const next = await client.responses.create({ ...thinking, previous_response_id: made.id, input: 'And a lock?' });
    expect(next.output_text).toMatch(/\w/);
  });

  test('retrieves, lists and deletes stored responses, which other organizations cannot see', async () => {
    const made = await client.responses.create({ ...ask, metadata: { a: 'b' } });
    const { output_text: _, ...read } = await client.responses.retrieve(made.id);
    expect(read).toMatchObject({ id: made.id, output: made.output, metadata: { a: 'b' }, store: true });
    const items = await Array.fromAsync(client.responses.inputItems.list(made.id));
    expect(items).toMatchObject([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: ask.input }] }]);
    const stranger = clientOf((await run.createKey({ org: 'org_stranger' })).secret);
    expect(await failure(stranger.responses.retrieve(made.id))).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await failure(stranger.responses.create({ ...ask, previous_response_id: made.id }))).toMatchObject({
      status: 404,
      code: 'previous_response_not_found',
    });
    await client.responses.delete(made.id);
    expect(await failure(client.responses.retrieve(made.id))).toMatchObject({ status: 404, code: 'response_not_found' });
  });

  test('stores nothing when store is false', async () => {
    const made = await client.responses.create({ ...ask, store: false });
    expect(await failure(client.responses.retrieve(made.id))).toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('gets JSON when it asks for it', async () => {
    const made = await client.responses.create({ ...ask, max_output_tokens: 200, text: { format: { type: 'json_object' } } });
    expect(JSON.parse(made.output_text)).toEqual(expect.any(Object));
  });

  test('gets log probabilities when it asks for them', async () => {
    const made = await client.responses.create({
      ...ask,
      max_output_tokens: 4,
      top_logprobs: 2,
      include: ['message.output_text.logprobs'],
    });
    expect(made.output).toMatchObject([{ content: [{ logprobs: [{ top_logprobs: [{}, {}] }, {}, {}, {}] }] }]);
  });

  test('gets an error that names the wrong field', async () => {
    expect(await failure(client.responses.create({ ...ask, background: true }))).toMatchObject({ status: 400, param: 'background' });
    const orphan = { type: 'function_call_output' as const, call_id: 'a', output: 'x' };
    expect(await failure(client.responses.create({ ...ask, input: [orphan] }))).toMatchObject({ status: 400, param: 'input[0].call_id' });
    expect(await failure(client.responses.create({ ...ask, input: 'river '.repeat(9_000) }))).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'input',
      message: expect.stringMatching(/tokens in the input.*Shorten the input/),
    });
  });

  test('drops older items with truncation auto', async () => {
    const old = { role: 'user' as const, content: 'river '.repeat(9_000) };
    const made = await client.responses.create({ ...ask, input: [old, { role: 'user', content: ask.input }], truncation: 'auto' });
    expect(made.usage?.input_tokens).toBeLessThan(100);
  });

  test('gets response.failed after the delivered events when a stream fails midway', async () => {
    const { secret, key_id } = await run.createKey();
    await run.control('container', { fault: { kind: 'destroy', after_tokens: 5, times: 1 } });
    const events = await Array.fromAsync(await clientOf(secret).responses.create({ ...ask, stream: true }));
    expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'failed', error: { code: 'upstream_error' } } });
    expect(await run.eventsOf(key_id)).toEqual([expect.objectContaining({ outcome: 'upstream_failed' })]);
  });
});

describe('POST /v1/responses', () => {
  test('accepts the requests of Codex and lists the fields that have no effect', async () => {
    const response = await fetch(`${run.base_url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${run.api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sluice-tiny',
        instructions: 'You are a coding agent.',
        input: [
          { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'The sandbox is read-only.' }] },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'What is a sluice?' }] },
        ],
        tools: [weather, { type: 'namespace', name: 'mcp', tools: [] }, { type: 'web_search', external_web_access: false }],
        tool_choice: 'auto',
        parallel_tool_calls: false,
        reasoning: { effort: 'medium', summary: 'auto' },
        store: false,
        stream: true,
        include: ['reasoning.encrypted_content'],
        prompt_cache_key: '0199-aa',
        client_metadata: { installation: 'x' },
        text: { verbosity: 'low' },
        max_output_tokens: 40,
      }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get('x-sluice-ignored')).toBe('client_metadata, tools.web_search, text.verbosity');
    const text = await response.text();
    expect(text).toMatch(/^event: response.created\ndata: /);
    expect(text).toMatch(/\n\nevent: response\.(completed|incomplete)\ndata: [^\n]+\n\n$/);
  });
});
