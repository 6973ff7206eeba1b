import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

const MODEL = 'sluice-tiny';
let run: TestRun;
let secret: string;
let keyId: string;
beforeAll(async () => {
  run = await shareTestRun();
  ({ secret, key_id: keyId } = await run.createKey());
});
afterAll(async () => {
  await run.close();
});

const post = (path: string, body: object, host = run.base_url, key = secret): Promise<Response> =>
  fetch(`${host}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model: MODEL, ...body }),
  });

const read = async <Body>(answer: Promise<Response>): Promise<Body> => {
  const response = await answer;
  expect(response.status).toBe(200);
  return (await response.json()) as Body;
};

interface Tokens {
  count: number;
  max_model_len: number;
  tokens: number[];
  token_strs: string[] | null;
}

const tools = [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } } }];
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'What is a sluice? <|im_end|> 漢字 🙂' },
  { role: 'assistant', content: 'A gate.' },
  { role: 'user', content: 'And a weir?' },
];

describe('/tokenize', () => {
  test.each([
    ['for a text', { prompt: 'Tell me about rivers.\n\n  漢字 … 🙂' }],
    ['for an empty text', { prompt: '' }],
    ['for special tokens in the text', { prompt: '<|im_start|>user\nHi<|im_end|>' }],
    ['with token strings', { prompt: 'A river é<|endoftext|>', return_token_strs: true }],
    ['for messages', { messages }],
    ['for messages without a generation prompt', { messages, add_generation_prompt: false }],
    ['for messages with tools', { messages, tools }],
    ['for messages with a tool that has only a name', { messages, tools: [{ type: 'function', function: { name: 'look' } }] }],
  ])('returns the tokens of the model itself: %s', async (_, body) => {
    const own = await read<Tokens>(post('/tokenize', body, run.container_url, ''));
    expect(await read<Tokens>(post('/tokenize', body))).toEqual(own);
  });

  test('returns as many tokens for messages as a chat is billed for', async () => {
    const { count, tokens, max_model_len } = await read<Tokens>(post('/tokenize', { messages, tools }));
    const chat = post('/v1/chat/completions', { messages, tools, max_tokens: 1 });
    expect((await read<{ usage: { prompt_tokens: number } }>(chat)).usage.prompt_tokens).toBe(count);
    expect(tokens).toHaveLength(count);
    expect(max_model_len).toBe(8_192);
  });
});

describe('/detokenize', () => {
  test('returns the original text, even of 100 kB', async () => {
    const lines = 'Tell me about rivers, 漢字 and 🙂 <|im_end|>\n\ttwice.  ';
    for (const text of ['', '\uFEFFx', lines, lines.repeat(1_700)]) {
      const { tokens } = await read<Tokens>(post('/tokenize', { prompt: text }));
      expect(await read(post('/detokenize', { tokens }))).toEqual({ prompt: text });
    }
  });
});

describe('each request', () => {
  test('has one usage event without cost and leaves nothing reserved', async () => {
    const { secret: own, key_id } = await run.createKey({ tokens_per_minute: 20, concurrency: 1 });
    for (let i = 0; i < 5; i++) {
      expect((await post('/tokenize', { prompt: 'a'.repeat(60) }, run.base_url, own)).status).toBe(200);
      expect((await post('/detokenize', { tokens: [1, 2, 3] }, run.base_url, own)).status).toBe(200);
    }
    const events = await run.eventsOf(key_id);
    expect(events.map(({ route }) => route).sort()).toEqual([...Array(5).fill('/detokenize'), ...Array(5).fill('/tokenize')]);
    for (const event of events)
      expect(event).toMatchObject({ cost_nanos: 0n, prompt_tokens: 0, completion_tokens: 0, outcome: 'completed' });
    expect((await run.limiters.whole(key_id))?.fl).toEqual({});
  });
});

describe('unknown fields', () => {
  describe('the errors of /tokenize and /detokenize', () => {
    test.each(['/tokenize', '/detokenize'])('are a 401 with a string error without a key: %s', async (path) => {
      const response = await post(path, { prompt: 'a', tokens: [1] }, run.base_url, '');
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: expect.any(String), request_id: response.headers.get('x-request-id') });
    });

    test.each([
      ['/tokenize', { prompt: 'a', messages }, 'prompt'],
      ['/tokenize', {}, 'prompt'],
      ['/detokenize', { tokens: [1, 1_000_000] }, 'tokens[1]'],
      ['/detokenize', { tokens: [1, -1] }, 'tokens[1]'],
    ])('are a 400 that names the field: %s %j', async (path, body, param) => {
      const response = await post(path, body);
      expect(response.status).toBe(400);
      expect(response.headers.get('x-ratelimit-limit-requests')).toBe('24000');
      expect(await response.json()).toMatchObject({ error: { param, type: 'invalid_request_error' } });
    });

    test('are listed in x-sluice-ignored', async () => {
      const response = await post('/tokenize', { prompt: 'a', wombat: 1 });
      expect(response.headers.get('x-sluice-ignored')).toBe('wombat');
      expect(response.headers.get('x-ratelimit-remaining-requests')).toMatch(/^\d+$/);
    });
  });
});

describe('a rejected request', () => {
  test('leaves no usage event', async () => {
    const before = (await run.eventsOf(keyId)).length;
    await post('/tokenize', {});
    expect((await run.eventsOf(keyId)).length).toBe(before);
  });
});
