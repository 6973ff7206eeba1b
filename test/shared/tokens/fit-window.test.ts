import { describe, expect, test } from '@jest/globals';
import { Model } from '../../../shared/models/model.ts';
import { fitWindow, type WindowRequest } from '../../../shared/tokens/fit-window.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';

const model = (change: object = {}): Model =>
  Model.parse({
    name: 'm',
    status: 'published',
    created: 0,
    context_length: 2_000,
    max_output_tokens: 800,
    default_output_tokens: 100,
    tokenizer: { tokenizer: 'k' },
    targets: [{ endpoint: 'e' }],
    prices: [{ version: '1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
    ...change,
  });
const short: ChatPrompt = { messages: [{ role: 'user', content: 'Hi' }] };
const long: ChatPrompt = {
  messages: [
    { role: 'user', content: 'a'.repeat(3_000) },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'c' },
  ],
};

/** Fits with a tokenizer that counts so much; tells what it was asked. */
const fitInto = async (
  prompt: ChatPrompt,
  request: Partial<WindowRequest>,
  counted = 1_500,
  kept: number[] | null = null,
  of = model(),
) => {
  const asked: (number | null)[] = [];
  const tokenizer = {
    fit: async ({ max_prompt_tokens }: { max_prompt_tokens: number | null }) => {
      asked.push(max_prompt_tokens);
      return { prompt_tokens: counted, kept };
    },
    count: async () => Promise.reject(new Error('No text was expected to be counted.')),
  };
  const whole: WindowRequest = { maxTokens: undefined, whenExceeded: 'truncate', maxPromptTokens: undefined, ...request };
  return { asked, ...(await fitWindow(tokenizer, of, prompt, whole)) };
};
const tooLong = (param: string, words: RegExp) =>
  expect.objectContaining({ status: 400, code: 'context_length_exceeded', param, message: expect.stringMatching(words) });

describe('a request that fits', () => {
  test('asks no tokenizer, and gets the caller’s max_tokens or the model’s own numbers', async () => {
    expect(await fitInto(short, { maxTokens: 9 })).toMatchObject({ asked: [], maxTokens: 9, prompt: short });
    expect(await fitInto(short, {})).toMatchObject({ asked: [], maxTokens: 100 });
    expect(await fitInto(short, { maxTokens: 32_000 })).toMatchObject({ asked: [], maxTokens: 800 });
    expect(await fitInto(short, { maxPromptTokens: 1_500 })).toMatchObject({ asked: [], prompt: short });
  });

  test('but cannot be told so from its bytes is counted', async () => {
    expect(await fitInto(long, { maxTokens: 9 }, 100)).toMatchObject({ asked: [null], maxTokens: 9, promptTokens: 100, prompt: long });
  });
});

describe('a request that exceeds the window', () => {
  test('gets as many tokens as are left, and loses nothing of its prompt', async () => {
    expect(await fitInto(long, { maxTokens: 600 })).toMatchObject({ maxTokens: 500, promptTokens: 1_500, prompt: long });
    expect(await fitInto(long, {}, 1_950)).toMatchObject({ maxTokens: 50 });
  });

  test('is refused with all three numbers where an error is asked for', async () => {
    await expect(fitInto(long, { maxTokens: 600, whenExceeded: 'error' })).rejects.toEqual(
      tooLong('messages', /1500 tokens.*600 tokens.*2000/),
    );
    await expect(fitInto(short, { maxTokens: 32_000, whenExceeded: 'error' }, 20)).rejects.toEqual(
      tooLong('messages', /32000.*2000\. Lower max_tokens\.$/),
    );
  });

  test('by our own default alone is not refused', async () => {
    expect(await fitInto(long, { whenExceeded: 'error' }, 1_950)).toMatchObject({ maxTokens: 50 });
  });

  test.each(['truncate', 'error'] as const)('with its prompt alone is refused under %s', async (whenExceeded) => {
    await expect(fitInto(long, { whenExceeded }, 2_000)).rejects.toEqual(tooLong('messages', /2000/));
  });

  test('of a model without a tokenizer is left to its runtime', async () => {
    const of = model({ tokenizer: undefined });
    await expect(fitInto(short, { maxTokens: 2_000, whenExceeded: 'error' }, 0, null, of)).rejects.toEqual(tooLong('messages', /2000/));
    expect(await fitInto(long, { maxTokens: 700, maxPromptTokens: 5 }, 0, null, of)).toMatchObject({
      asked: [],
      maxTokens: 700,
      prompt: long,
    });
  });
});

describe('prompt_truncate_len', () => {
  test('leaves the messages that the tokenizer keeps', async () => {
    const fitted = await fitInto(long, { maxPromptTokens: 50 }, 40, [2]);
    expect(fitted).toMatchObject({ asked: [50], promptTokens: 40, maxTokens: 100 });
    expect(fitted.prompt.messages).toEqual([{ role: 'user', content: 'c' }]);
  });

  test('is a 400 where what must stay is longer', async () => {
    await expect(fitInto(long, { maxPromptTokens: 50 }, 60, [2])).rejects.toEqual(
      tooLong('prompt_truncate_len', /prompt_truncate_len is 50.*60 tokens.*2000/),
    );
  });
});
