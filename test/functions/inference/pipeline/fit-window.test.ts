import { describe, expect, test } from '@jest/globals';
import { completions } from '../../../../functions/inference/completions/route.ts';
import { fitWindow, type WindowRequest } from '../../../../functions/inference/pipeline/fit-window.ts';
import { resolveMaxTokens } from '../../../../functions/inference/pipeline/prepare-request.ts';
import { measurePrompt } from '../../../../functions/inference/pipeline/prompt-size.ts';
import { windowOf } from '../../../../functions/inference/responses/window.ts';
import { Model } from '../../../../shared/models/model.ts';
import { PromptRefused } from '../../../../shared/tokens/errors.ts';
import type { ChatPrompt, Prompt } from '../../../../shared/tokens/prompt.ts';
import { read } from '../../../support/clients/responses-requests.ts';

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

const toFit = <P extends Prompt>(prompt: P, window: WindowRequest, of: Model) => {
  const { longestTokens } = measurePrompt(prompt);
  return { prompt, longestTokens, maxTokens: resolveMaxTokens(window.requestedTokens, of), window };
};

// Also returns the limits with which the tokenizer was called.
const fitInto = async (
  prompt: ChatPrompt,
  request: Partial<WindowRequest>,
  counted: number | null = 1_500,
  kept: number[] | null = null,
  of = model(),
) => {
  const sentLimits: (number | null)[] = [];
  const tokenizer = {
    fit: async ({ max_prompt_tokens }: { max_prompt_tokens: number | null }) => {
      sentLimits.push(max_prompt_tokens);
      return { prompt_tokens: counted, kept };
    },
    count: async () => Promise.reject(new Error('No text was expected to be counted.')),
  };
  const window: WindowRequest = { requestedTokens: undefined, whenExceeded: 'truncate', maxPromptTokens: undefined, ...request };
  return { sentLimits, ...(await fitWindow(tokenizer, of, toFit(prompt, window, of))) };
};
const tooLong = (param: string, words: RegExp) =>
  expect.objectContaining({ status: 400, code: 'context_length_exceeded', param, message: expect.stringMatching(words) });

describe('a request that fits', () => {
  test('calls no tokenizer, and gets the caller’s max_tokens or the model’s defaults', async () => {
    expect(await fitInto(short, { requestedTokens: 9 })).toMatchObject({ sentLimits: [], maxTokens: 9, prompt: short });
    expect(await fitInto(short, {})).toMatchObject({ sentLimits: [], maxTokens: 100 });
    expect(await fitInto(short, { requestedTokens: 32_000 })).toMatchObject({ sentLimits: [], maxTokens: 800 });
    expect(await fitInto(short, { maxPromptTokens: 1_500 })).toMatchObject({ sentLimits: [], prompt: short });
  });

  test('is sent unchanged if it can’t be counted, so that its runtime can decide', async () => {
    for (const whenExceeded of ['truncate', 'error'] as const) {
      const fitted = await fitInto(long, { requestedTokens: 700, whenExceeded }, null);
      expect(fitted).toEqual({ sentLimits: [null], maxTokens: 700, prompt: long });
    }
  });

  test('is counted if its bytes do not prove that it fits', async () => {
    expect(await fitInto(long, { requestedTokens: 9 }, 100)).toMatchObject({
      sentLimits: [null],
      maxTokens: 9,
      promptTokens: 100,
      prompt: long,
    });
  });
});

describe('a request that exceeds the window', () => {
  test('gets the tokens that are left, and keeps its whole prompt', async () => {
    expect(await fitInto(long, { requestedTokens: 600 })).toMatchObject({ maxTokens: 500, promptTokens: 1_500, prompt: long });
    expect(await fitInto(long, {}, 1_950)).toMatchObject({ maxTokens: 50 });
  });

  test('is rejected with all three numbers, in words that clients recognize, if the caller wants an error', async () => {
    await expect(fitInto(long, { requestedTokens: 600, whenExceeded: 'error' })).rejects.toEqual(
      tooLong(
        'messages',
        /^This model's maximum context length is 2000 tokens, but the request has 1500 tokens in the messages and asks for 600 tokens in the completion\. Shorten the messages or lower max_tokens\.$/,
      ),
    );
    await expect(fitInto(short, { requestedTokens: 32_000, whenExceeded: 'error' }, 20)).rejects.toEqual(
      tooLong(
        'messages',
        /^This model's maximum context length is 2000 tokens, but the request asks for 32000 tokens in the completion\. Lower max_tokens\.$/,
      ),
    );
  });

  test('is not rejected because of our own default alone', async () => {
    expect(await fitInto(long, { whenExceeded: 'error' }, 1_950)).toMatchObject({ maxTokens: 50 });
  });

  test.each(['truncate', 'error'] as const)('is rejected under %s if its prompt alone fills the window', async (whenExceeded) => {
    await expect(fitInto(long, { whenExceeded }, 2_000)).rejects.toEqual(tooLong('messages', /2000/));
  });

  test('is left to the runtime if the model has no tokenizer', async () => {
    const of = model({ tokenizer: undefined });
    await expect(fitInto(short, { requestedTokens: 2_000, whenExceeded: 'error' }, 0, null, of)).rejects.toEqual(
      tooLong('messages', /2000/),
    );
    expect(await fitInto(long, { requestedTokens: 700, maxPromptTokens: 5 }, 0, null, of)).toMatchObject({
      sentLimits: [],
      maxTokens: 700,
      prompt: long,
    });
  });
});

describe('prompt_truncate_len', () => {
  test('keeps the messages that the tokenizer keeps', async () => {
    const fitted = await fitInto(long, { maxPromptTokens: 50 }, 40, [2]);
    expect(fitted).toMatchObject({ sentLimits: [50], promptTokens: 40, maxTokens: 100 });
    expect(fitted.prompt.messages).toEqual([{ role: 'user', content: 'c' }]);
  });

  test('is a 400 if the messages that must stay are longer', async () => {
    await expect(fitInto(long, { maxPromptTokens: 50 }, 60, [2])).rejects.toEqual(
      tooLong(
        'prompt_truncate_len',
        /^prompt_truncate_len is 50, but the messages and tools that are never evicted have 60\. Shorten them or raise prompt_truncate_len\.$/,
      ),
    );
  });
});

describe('plain texts', () => {
  const fitTexts = (texts: (string | number[])[], tokens: number, maxTokens: number, special_tokens?: number) => {
    const counts = { prompt_tokens: null, text_tokens: texts.map(() => tokens), ...(special_tokens !== undefined && { special_tokens }) };
    const tokenizer = { fit: async () => Promise.reject(new Error('no chat')), count: async () => counts };
    const prompt = { texts };
    const window: WindowRequest = { requestedTokens: maxTokens, whenExceeded: 'truncate', maxPromptTokens: undefined };
    return fitWindow(tokenizer, model(), toFit(prompt, window, model()));
  };
  const text = 'a'.repeat(5_000);

  test('have the tokens that the tokenizer counts, plus its special tokens for each text', async () => {
    expect(await fitTexts([text], 1_999, 1, 0)).toMatchObject({ promptTokens: 1_999, maxTokens: 1 });
    await expect(fitTexts([text], 1_999, 1, 1)).rejects.toEqual(tooLong('messages', /2000 tokens/));
    expect(await fitTexts([text, text], 900, 50, 2)).toMatchObject({ promptTokens: 1_804, maxTokens: 50 });
  });

  test('get one special token each if the tokenizer does not say how many', async () => {
    expect(await fitTexts([text], 1_998, 1)).toMatchObject({ promptTokens: 1_999 });
  });
});

describe('the error for a request that does not fit', () => {
  const of = model({ tokenizer: { tokenizer: 'k', vocabulary_size: 9 } });
  const refuse = (prompt: Prompt, window: WindowRequest, fit = async () => ({ prompt_tokens: 2_500, kept: [0] as number[] | null })) => {
    const tokenizer = { fit, count: async () => ({ prompt_tokens: null, text_tokens: [2_500], special_tokens: 0 }) };
    return expect(fitWindow(tokenizer, of, toFit(prompt, window, of))).rejects;
  };

  test('uses the field names of a completion', async () => {
    const window = completions.window({ model: 'm', prompt: 'x', max_tokens: 5 }, of, 5);
    await refuse({ texts: ['a'.repeat(5_000)] }, window).toEqual(
      tooLong(
        'prompt',
        /length is 2000 tokens, .* has 2500 tokens in the prompt and asks for 5 tokens in the completion\. Shorten the prompt\.$/,
      ),
    );
  });

  test('uses the field names of a response', async () => {
    await refuse(long, windowOf(read({ max_output_tokens: 5 }), of, 5)).toEqual(
      tooLong(
        'input',
        /length is 2000 tokens, .* has 2500 tokens in the input and asks for 5 .*\. Shorten the input, or send truncation: "auto"\.$/,
      ),
    );
  });

  test('uses the field names of a response with truncation', async () => {
    await refuse(long, windowOf(read({ truncation: 'auto' }), of, 100)).toEqual(
      tooLong(
        'input',
        /^With truncation: "auto", 1900 of the model's 2000 tokens are left for the prompt, but .* have 2500\. Shorten them or lower max_output_tokens\.$/,
      ),
    );
  });

  test('uses the field names of a response whose conversation the chat template rejects', async () => {
    const refused = async () => Promise.reject(new PromptRefused('no system message'));
    await refuse(long, windowOf(read({}), of, 100), refused).toMatchObject({ status: 400, param: 'input' });
  });
});
