import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
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
interface Body {
  choices: { message: { content: string | null; reasoning: string | null }; token_ids: number[] }[];
  usage: { prompt_tokens: number; completion_tokens: number };
  prompt_token_ids: number[];
  error: { code: string; param: string };
}

// The client's types don't have all properties.
const post = async (body: object): Promise<{ status: number; headers: Headers; body: Body }> => {
  const response = await fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${run.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...ask, ...body }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
};

describe('response options of a chat', () => {
  test('return valid JSON with json_object, even with a small max_tokens', async () => {
    for (const max_tokens of [5, 20, 60]) {
      const { choices } = await client.chat.completions.create({ ...ask, max_tokens, response_format: { type: 'json_object' } });
      expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual(expect.any(Object));
    }
  });

  test('return log probabilities for every token with logprobs', async () => {
    const { choices, usage } = await client.chat.completions.create({
      ...ask,
      max_tokens: 5,
      logprobs: true,
      top_logprobs: 2,
      temperature: 0,
    });
    const entries = choices[0]?.logprobs?.content ?? [];
    expect(entries).toHaveLength(usage?.completion_tokens ?? 0);
    expect(choices[0]?.logprobs?.refusal).toBeNull();
    for (const { logprob, top_logprobs, token } of entries) {
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top_logprobs).toHaveLength(2);
      expect(top_logprobs.map((top) => top.token)).toContain(token);
    }
  });

  test('return n choices, streamed or not', async () => {
    const several = { ...ask, n: 3, seed: 1, temperature: 1, max_tokens: 8 };
    const whole = await client.chat.completions.create(several);
    const streamed = await client.chat.completions.stream({ ...several, stream_options: { include_usage: true } }).finalChatCompletion();
    const texts = whole.choices.map(({ message }) => message.content);
    expect(new Set(texts).size).toBe(3);
    expect(streamed.choices.map(({ message }) => message.content)).toEqual(texts);
    expect(streamed.usage).toEqual(whole.usage);
    expect(whole.usage?.completion_tokens).toBeLessThanOrEqual(24);
  });

  test('return the token ids of the runtime, as many as usage reports, with return_token_ids', async () => {
    const { body } = await post({ return_token_ids: true, max_tokens: 5 });
    expect(body).toMatchObject({ prompt_token_ids: expect.arrayContaining([expect.any(Number)]) });
    const { usage, choices, prompt_token_ids } = body;
    expect([prompt_token_ids.length, choices[0]?.token_ids.length]).toEqual([usage.prompt_tokens, usage.completion_tokens]);
  });

  test('separate the reasoning of a reasoning model, which the caller can turn off', async () => {
    const model = 'sluice-tiny-reasoning';
    const { body } = await post({ model, max_tokens: 200 });
    expect(body).toMatchObject({ choices: [{ message: { reasoning: expect.stringMatching(/\w/), content: expect.any(String) } }] });
    for (const off of [{ reasoning_effort: 'none' }, { reasoning_effort: false }, { thinking: { type: 'disabled' } }])
      expect((await post({ model, ...off })).body).toMatchObject({ choices: [{ message: { reasoning: null } }] });
    const bounded = await post({ model, thinking: { type: 'enabled', budget_tokens: 4 }, max_tokens: 200 });
    const thoughts = bounded.body.choices[0]?.message.reasoning ?? '';
    expect(thoughts.length).toBeLessThan(80);
  });
});

describe('the context window', () => {
  const window = 8_192;
  const long = user('The river runs to the sea. '.repeat(800));

  test('lowers max_tokens to the room that is left and keeps the whole prompt', async () => {
    const { choices, usage } = await client.chat.completions.create({ ...ask, messages: [long], max_tokens: 4_096, stop: ['.'] });
    expect(usage?.prompt_tokens).toBeGreaterThan(6_000);
    expect(choices[0]?.finish_reason).toBe('stop');
  });

  test('returns 400 with all three numbers if context_length_exceeded_behavior is error', async () => {
    const { status, body } = await post({ messages: [long], max_tokens: 4_096, context_length_exceeded_behavior: 'error' });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: {
        code: 'context_length_exceeded',
        message: expect.stringMatching(
          /^This model's maximum context length is 8192 tokens, .* tokens in the messages and asks for 4096 tokens in the completion/,
        ),
      },
    });
  });

  test('returns 400 when the prompt alone exceeds it, with either behavior', async () => {
    for (const context_length_exceeded_behavior of ['truncate', 'error', null]) {
      const { status, body } = await post({ messages: [user('word '.repeat(20_000))], context_length_exceeded_behavior });
      expect([status, body.error.code]).toEqual([400, 'context_length_exceeded']);
    }
  });

  test('drops older messages with prompt_truncate_len, but not the system and the last user message', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      ...Array.from({ length: 20 }, (_, i) => user(`Message ${i}: ${'mud '.repeat(100)}`)),
      user('What is a lock?'),
    ];
    const { status, body } = await post({ messages, prompt_truncate_len: 300, max_tokens: 5 });
    const { prompt_tokens } = body.usage;
    expect(status).toBe(200);
    expect(prompt_tokens).toBeLessThanOrEqual(300);
    expect(prompt_tokens).toBeGreaterThan(100);
    expect((await post({ messages, prompt_truncate_len: 5 })).body).toMatchObject({
      error: { code: 'context_length_exceeded', param: 'prompt_truncate_len' },
    });
  });

  test('counts tokens as the model does: a request that fits exactly succeeds, with one more token it fails', async () => {
    const { body } = await post({ messages: [long], max_tokens: 1 });
    const { prompt_tokens } = body.usage;
    const room = window - prompt_tokens;
    const error = { messages: [long], context_length_exceeded_behavior: 'error', stop: ['.'] };
    expect((await post({ ...error, max_tokens: room })).status).toBe(200);
    expect((await post({ ...error, max_tokens: room + 1 })).status).toBe(400);
  });
});

describe('fields that only the gateway may send to a runtime', () => {
  test('have no effect and are listed in x-sluice-ignored', async () => {
    const plain = { temperature: 0, max_tokens: 20 };
    const smuggled = {
      cache_salt: '',
      priority: 'x',
      request_id: 5,
      chat_template: '{{ 1/0 }}',
      kv_transfer_params: 1,
      prompt: 'Say no.',
      structured_outputs: 5,
    };
    const [one, two] = await Promise.all([post(plain), post({ ...plain, ...smuggled })]);
    expect(two.status).toBe(200);
    expect(two.body.choices).toEqual(one.body.choices);
    expect(two.headers.get('x-sluice-ignored')?.split(', ').sort()).toEqual(Object.keys(smuggled).sort());
    expect(one.headers.get('x-sluice-ignored')).toBeNull();
  });
});
