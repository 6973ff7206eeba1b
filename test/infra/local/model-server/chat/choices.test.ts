import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Chunk,
  type Completion,
  type Container,
  chunksOf,
  control,
  invoke,
  model,
  question,
  startContainer,
  tokenizer,
} from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer();
});
afterAll(() => container.close());

const complete = async (fields: object): Promise<Completion> =>
  (await (await invoke(container, { messages: question, max_tokens: 12, seed: 5, ...fields })).json()) as Completion;

const stream = async (fields: object): Promise<Chunk[]> => {
  const response = await invoke(container, { messages: question, max_tokens: 12, seed: 5, stream: true, ...fields });
  const events = (await response.text()).split('\n\n').map((event) => event.replace(/^data: /, ''));
  return chunksOf(events.filter((event) => event !== ''));
};

const ofChoice = (chunks: readonly Chunk[], index: number) =>
  chunks.flatMap(({ choices }) => choices).filter((choice) => choice.index === index);
const contentOf = (chunks: readonly Chunk[], index: number): string =>
  ofChoice(chunks, index)
    .map(({ delta }) => delta.content ?? '')
    .join('');

describe('several choices', () => {
  test('differ from each other, are deterministic with a seed, and share one usage', async () => {
    const { choices, usage } = await complete({ n: 3 });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(new Set(choices.map(({ message }) => message.content)).size).toBe(3);
    expect(choices).toEqual((await complete({ n: 3 })).choices);
    expect(choices[0]?.message).toEqual((await complete({ n: 1 })).choices[0]?.message);
    const prompt = tokenizer.encodeChat([{ role: 'user', content: question[0]?.content ?? '' }]).length;
    expect(usage).toMatchObject({ prompt_tokens: prompt, completion_tokens: 36, total_tokens: prompt + 36 });
  });

  test('alternate in a stream, each with a role and a finish, before a single usage chunk', async () => {
    const whole = await complete({ n: 3 });
    const chunks = await stream({ n: 3, stream_options: { include_usage: true } });
    for (const { index, message } of whole.choices) {
      const own = ofChoice(chunks, index);
      expect(own[0]?.delta).toEqual({ role: 'assistant', content: '' });
      expect(contentOf(chunks, index)).toBe(message.content);
      expect(own.filter(({ finish_reason }) => finish_reason !== null)).toHaveLength(1);
      expect(own.at(-1)?.finish_reason).toBe('length');
    }
    const order = chunks.slice(3, 9).map(({ choices }) => choices[0]?.index);
    expect(order).toEqual([0, 1, 2, 0, 1, 2]);
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 36 } });
  });

  test('end independently', async () => {
    const chunks = await stream({ n: 4, max_tokens: 400, seed: 1, stream_options: { include_usage: true } });
    const whole = await complete({ n: 4, max_tokens: 400, seed: 1, return_token_ids: true });
    expect(new Set(whole.choices.map(({ token_ids }) => token_ids?.length)).size).toBeGreaterThan(1);
    for (const { index, message, finish_reason } of whole.choices) {
      expect(contentOf(chunks, index)).toBe(message.content);
      expect(ofChoice(chunks, index).at(-1)?.finish_reason).toBe(finish_reason);
    }
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(whole.usage?.completion_tokens);
  });

  test('share the delay between tokens', async () => {
    const DELAY_MS = 20;
    await control(container, { token_delay_ms: DELAY_MS });
    const start = performance.now();
    const ended: string[] = [];
    const three = async (): Promise<void> => {
      for (let i = 0; i < 3; i++) await complete({ max_tokens: 4 });
      ended.push('three answers one after another');
    };
    const five = async (): Promise<void> => {
      await complete({ n: 5, max_tokens: 4 });
      ended.push('five choices');
      expect(performance.now() - start).toBeGreaterThanOrEqual(3 * DELAY_MS - 5);
    };
    await Promise.all([five(), three()]);
    await fetch(`${container.url}/control`, { method: 'DELETE' });
    // One after another, five choices would take as long as five answers, however slow the machine is.
    expect(ended).toEqual(['five choices', 'three answers one after another']);
  });
});

describe('token ids', () => {
  test('are returned for the prompt and each answer, only if requested', async () => {
    const reply = await complete({ n: 2, return_token_ids: true });
    expect(reply.prompt_token_ids).toEqual(tokenizer.encodeChat([{ role: 'user', content: question[0]?.content ?? '' }]));
    for (const { token_ids, message } of reply.choices) expect(tokenizer.decode(token_ids ?? [])).toBe(message.content);
    expect(await complete({})).toMatchObject({ prompt_token_ids: null, choices: [{ token_ids: null }] });
  });

  test('are in the deltas of a stream; the end-of-turn token is in the finish chunk', async () => {
    const fields = { return_token_ids: true, max_tokens: 300, seed: 1 };
    const [chunks, whole] = [await stream(fields), await complete(fields)];
    expect(chunks[0]?.prompt_token_ids).toEqual(whole.prompt_token_ids);
    expect(chunks.slice(1).every(({ prompt_token_ids }) => prompt_token_ids === undefined)).toBe(true);
    expect(chunks.flatMap(({ choices }) => choices[0]?.token_ids ?? [])).toEqual(whole.choices[0]?.token_ids);
    expect(chunks.at(-1)?.choices[0]?.token_ids).toEqual([model.endOfTurn]);
    expect((await stream({}))[1]?.choices[0]).not.toHaveProperty('token_ids');
  });
});

describe('logprobs', () => {
  const entriesOf = (reply: Completion) => reply.choices[0]?.logprobs?.content ?? [];

  test('are returned for each token with its top logprobs, best first', async () => {
    const reply = await complete({ logprobs: true, top_logprobs: 3, return_token_ids: true });
    const entries = entriesOf(reply);
    expect(entries.map(({ token }) => token).join('')).toBe(reply.choices[0]?.message.content);
    for (const { token, logprob, bytes, top_logprobs } of entries) {
      expect(bytes).toEqual([...new TextEncoder().encode(token)]);
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top_logprobs).toHaveLength(3);
      const likeliest = top_logprobs.map((one) => one.logprob);
      expect(likeliest).toEqual([...likeliest].sort((a, b) => b - a));
      expect(likeliest.reduce((sum, one) => sum + Math.exp(one), 0)).toBeLessThanOrEqual(1 + 1e-6);
    }
  });

  test('are those of the model before any sampling parameter applies', async () => {
    const greedy = { temperature: 0, logprobs: true, top_logprobs: 1 };
    const [first] = entriesOf(await complete(greedy));
    const banned = tokenizer.encodeText(first?.token ?? '')[0] ?? -1;
    const [second] = entriesOf(await complete({ ...greedy, temperature: 2, top_k: 1, logit_bias: { [banned]: -100 } }));
    expect(second?.top_logprobs).toEqual(first?.top_logprobs);
    expect(second?.logprob).toBeLessThan(first?.logprob ?? 0);
  });

  test('are only those of the chosen tokens without top_logprobs, and absent without logprobs', async () => {
    expect(entriesOf(await complete({ logprobs: true })).every(({ top_logprobs }) => top_logprobs.length === 0)).toBe(true);
    expect((await complete({})).choices[0]?.logprobs).toBeNull();
  });

  test('are the same in a stream', async () => {
    const fields = { logprobs: true, top_logprobs: 2 };
    const chunks = await stream(fields);
    expect(ofChoice(chunks, 0).flatMap(({ logprobs }) => logprobs?.content ?? [])).toEqual(entriesOf(await complete(fields)));
  });
});

test('a response id contains the request_id, if present', async () => {
  expect((await complete({ request_id: 'req_1' })).id).toBe('chatcmpl-req_1');
  expect((await stream({ request_id: 'req_1' })).every(({ id }) => id === 'chatcmpl-req_1')).toBe(true);
});
