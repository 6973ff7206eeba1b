import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Container,
  completeText,
  model,
  PROMPT,
  startContainer,
  streamText,
  type TextChoice,
  type TextLogprobs,
  tokenizer,
} from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer();
});
afterAll(() => container.close());

const ids = tokenizer.encodePrompt(PROMPT);

const choiceOf = async (fields: object): Promise<TextChoice> => {
  const { choices } = await completeText(container, { max_tokens: 10, ...fields });
  if (!choices[0]) throw new Error('no choice');
  return choices[0];
};

// All lists have the same length.
const logprobsOf = async (fields: object): Promise<TextLogprobs> => {
  const { logprobs } = await choiceOf({ logprobs: 0, ...fields });
  if (!logprobs) throw new Error('no logprobs');
  expect(new Set(Object.values(logprobs).map(({ length }) => length)).size).toBe(1);
  return logprobs;
};

describe('logprobs', () => {
  test('are returned for each token with its text and offset', async () => {
    const { text } = await choiceOf({});
    const { tokens, text_offset, token_logprobs } = await logprobsOf({});
    expect(tokens.join('')).toBe(text);
    expect(tokens).toHaveLength(10);
    expect(text_offset.map((offset, i) => text.startsWith(tokens[i] ?? '', offset))).toEqual(Array(10).fill(true));
    expect(token_logprobs.every((logprob) => logprob !== null && logprob <= 0)).toBe(true);
  });

  test('include the requested number of top tokens besides the chosen one', async () => {
    const { tokens, token_logprobs, top_logprobs } = await logprobsOf({ logprobs: 3, temperature: 2, seed: 1 });
    for (const [i, top] of top_logprobs.entries()) {
      expect(top?.[tokens[i] ?? '']).toBe(token_logprobs[i]);
      expect([3, 4]).toContain(Object.keys(top ?? {}).length);
    }
    expect((await logprobsOf({})).top_logprobs.map((top) => Object.keys(top ?? {}).length)).toEqual(Array(10).fill(1));
  });

  test('are probabilities that add up to at most 1', async () => {
    const { top_logprobs } = await logprobsOf({ logprobs: 20, max_tokens: 1 });
    const sum = Object.values(top_logprobs[0] ?? {}).reduce((total, logprob) => total + Math.exp(logprob), 0);
    expect(sum).toBeGreaterThan(0.2);
    expect(sum).toBeLessThanOrEqual(1.000_001);
  });

  test('are the same in a stream', async () => {
    const whole = await logprobsOf({ logprobs: 2 });
    const { chunks } = await streamText(container, { max_tokens: 10, logprobs: 2 });
    const parts = chunks.map(({ choices }) => choices[0]?.logprobs);
    expect(parts.flatMap((part) => part?.tokens)).toEqual(whole.tokens);
    expect(parts.flatMap((part) => part?.token_logprobs)).toEqual(whole.token_logprobs);
    expect(parts.flatMap((part) => part?.top_logprobs)).toEqual(whole.top_logprobs);
    expect(parts.flatMap((part) => part?.text_offset)).toEqual(whole.text_offset);
  });
});

describe('an echo', () => {
  test('is the prompt before the text', async () => {
    const { text } = await choiceOf({});
    expect((await choiceOf({ echo: true })).text).toBe(PROMPT + text);
    expect((await choiceOf({ echo: true, prompt: ids })).text).toBe(PROMPT + text);
    expect((await choiceOf({ echo: null })).text).toBe(text);
  });

  test('spells out special tokens of a text or token prompt', async () => {
    const prompt = 'Hi<|im_end|>\n';
    for (const one of [prompt, tokenizer.encodePrompt(prompt)]) {
      expect((await choiceOf({ prompt: one, echo: true })).text.startsWith(prompt)).toBe(true);
    }
  });

  test('has the logprobs of the prompt tokens, null for the first, before those of the answer', async () => {
    const plain = await logprobsOf({ logprobs: 2 });
    const { tokens, token_logprobs, top_logprobs, text_offset } = await logprobsOf({ logprobs: 2, echo: true });
    const length = ids.length;
    expect(tokens.slice(0, length).join('')).toBe(PROMPT);
    expect([token_logprobs[0], top_logprobs[0], text_offset[0]]).toEqual([null, null, 0]);
    expect(token_logprobs.slice(1).every((logprob) => logprob !== null)).toBe(true);
    expect(token_logprobs.slice(length)).toEqual(plain.token_logprobs);
    expect(text_offset.slice(length)).toEqual(plain.text_offset.map((offset) => PROMPT.length + offset));
  });

  test('gives each prompt token the logprob it would have as the next token', async () => {
    const { tokens, token_logprobs, top_logprobs } = await logprobsOf({ logprobs: 20, echo: true, max_tokens: 0 });
    for (const at of [1, 3, ids.length - 1]) {
      const generated = await logprobsOf({ prompt: ids.slice(0, at), logprobs: 20, max_tokens: 1, logit_bias: { [ids[at] ?? -1]: 100 } });
      expect(generated.tokens[0]).toBe(tokens[at]);
      expect(token_logprobs[at]).toBe(generated.token_logprobs[0]);
      expect(top_logprobs[at]).toEqual(generated.top_logprobs[0]);
    }
  });

  test('counts offsets in code points', async () => {
    const prompt = '🙂 is';
    const { tokens, text_offset } = await logprobsOf({ prompt, echo: true, max_tokens: 1 });
    expect(text_offset[1]).toBe(Array.from(tokens[0] ?? '').length);
    expect(
      (await streamText(container, { prompt: '漢🙂', echo: true, max_tokens: 2, logprobs: 0 })).chunks[1]?.choices[0]?.logprobs
        ?.text_offset,
    ).toEqual([expect.any(Number)]);
  });

  test('generates no token if max_tokens is 0', async () => {
    const { choices, usage } = await completeText(container, { echo: true, max_tokens: 0, n: 2, temperature: 1, return_token_ids: false });
    expect(choices).toMatchObject([0, 1].map((index) => ({ index, text: PROMPT, finish_reason: 'length', stop_reason: null })));
    expect(usage).toMatchObject({ prompt_tokens: ids.length, completion_tokens: 0 });
    const { chunks, end } = await streamText(container, { echo: true, max_tokens: 0, logprobs: 1, prompt: [PROMPT, 'A'] });
    expect(chunks.map(({ choices: [choice] }) => [choice?.index, choice?.text, choice?.finish_reason])).toEqual([
      [0, PROMPT, 'length'],
      [1, 'A', 'length'],
    ]);
    expect(chunks[0]?.choices[0]?.logprobs?.tokens.join('')).toBe(PROMPT);
    expect(end).toBe('[DONE]');
  });

  test('is in the first chunk of each choice in a stream', async () => {
    const body = { prompt: [PROMPT, 'A harbour'], n: 2, temperature: 0.7, seed: 1, echo: true, max_tokens: 4, logprobs: 1 };
    const whole = await completeText(container, body);
    const { chunks } = await streamText(container, body);
    for (const choice of whole.choices) {
      const parts = chunks.flatMap(({ choices }) => choices).filter(({ index }) => index === choice.index);
      expect(parts).toHaveLength(4);
      expect(parts[0]?.text.startsWith(choice.index < 2 ? PROMPT : 'A harbour')).toBe(true);
      expect(parts.map(({ text }) => text).join('')).toBe(choice.text);
      for (const list of ['tokens', 'token_logprobs', 'top_logprobs', 'text_offset'] as const) {
        expect(parts.flatMap(({ logprobs }) => logprobs?.[list] as unknown[])).toEqual(choice.logprobs?.[list]);
      }
    }
  });

  test('has token ids and no text if token ids are requested, as in vLLM', async () => {
    const { text } = await choiceOf({});
    expect(await choiceOf({ echo: true, return_token_ids: true })).toMatchObject({ text, prompt_token_ids: ids });
  });

  test('always includes the token ids of the prompt in a stream, as in vLLM', async () => {
    const { chunks } = await streamText(container, { echo: true, max_tokens: 2 });
    expect(chunks.map(({ choices }) => choices[0]?.prompt_token_ids)).toEqual([ids, null]);
    expect(chunks.map(({ choices }) => choices[0]?.token_ids)).toEqual([null, null]);
  });

  test('does not block other requests while it scores a long prompt', async () => {
    const prompt = Array.from({ length: 1_500 }, (_, i) => ids[i % ids.length] ?? 0);
    let isDone = false;
    const long = logprobsOf({ prompt, echo: true, max_tokens: 0 }).then((logprobs) => {
      isDone = true;
      return logprobs;
    });
    await choiceOf({ max_tokens: 1 });
    expect(isDone).toBe(false);
    expect((await long).tokens).toHaveLength(1_500);
  });
});

test('logprobs spell out a special token', async () => {
  const fields = { logit_bias: { [model.endOfTurn]: 100 } };
  expect((await logprobsOf(fields)).tokens).toEqual(['<|im_end|>']);
});
