import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Completion, type Container, invoke, model, question, REASONING_MODEL_NAME, startContainer, tokenizer } from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer();
});
afterAll(() => container.close());

// With its token ids.
const choiceOf = async (fields: object): Promise<Completion['choices'][number]> => {
  const body = { messages: question, max_tokens: 40, return_token_ids: true, ...fields };
  const reply = (await (await invoke(container, body)).json()) as Completion;
  if (!reply.choices?.[0]) throw new Error(JSON.stringify(reply));
  return reply.choices[0];
};

const textOf = async (fields: object): Promise<string> => (await choiceOf(fields)).message.content;
const tokensOf = async (fields: object): Promise<number[]> => (await choiceOf(fields)).token_ids ?? [];
const SEEDS = [1, 2, 3, 4, 5, 6];
const textsOf = (fields: object): Promise<string[]> => Promise.all(SEEDS.map((seed) => textOf({ seed, ...fields })));
const idOf = (text: string): number => tokenizer.encodeText(text)[0] ?? -1;

describe('sampling', () => {
  test('is greedy at temperature 0 and deterministic with a seed at any other', async () => {
    expect(new Set(await textsOf({ temperature: 0 })).size).toBe(1);
    expect(await textsOf({})).toEqual(await textsOf({}));
    expect(new Set(await textsOf({})).size).toBe(SEEDS.length);
  });

  test.each([{ top_k: 1 }, { top_p: 1e-9 }, { mirostat_target: 1e-9 }])('%j keeps only the likeliest tokens', async (fields) => {
    const greedy = new Set(await textsOf({ temperature: 0 }));
    expect(new Set(await textsOf(fields))).toEqual(greedy);
  });

  test('is less diverse with a low temperature, top_k, top_p or mirostat_target, or a high min_p', async () => {
    const distinct = async (fields: object) => {
      const tokens = await Promise.all(SEEDS.map((seed) => tokensOf({ seed, max_tokens: 80, ...fields })));
      return new Set(tokens.flat()).size;
    };
    const wide = await distinct({});
    for (const fields of [{ temperature: 0.3 }, { top_k: 2 }, { top_p: 0.3 }, { min_p: 0.5 }, { mirostat_target: 0.3 }]) {
      expect(await distinct(fields)).toBeLessThan(wide);
    }
  });

  test('changes with a small typical_p', async () => {
    expect(await textsOf({ typical_p: 0.2 })).not.toEqual(await textsOf({}));
  });

  test('adjusts the mirostat bound at the rate mirostat_lr', async () => {
    const fields = { mirostat_target: 2, max_tokens: 120 };
    expect(await textsOf({ ...fields, mirostat_lr: 1 })).not.toEqual(await textsOf({ ...fields, mirostat_lr: 0 }));
    expect(await textsOf({ ...fields, mirostat_lr: 0.1 })).toEqual(await textsOf(fields));
  });

  test('is random for seed -1', async () => {
    const free = await Promise.all(SEEDS.map(() => textOf({ seed: -1 })));
    expect(new Set(free).size).toBeGreaterThan(1);
  });

  test.each([{ presence_penalty: 2 }, { frequency_penalty: 2 }, { repetition_penalty: 2 }])('%j repeats itself less', async (fields) => {
    const distinct = async (more: object) => new Set(await tokensOf({ temperature: 0, max_tokens: 150, ignore_eos: true, ...more })).size;
    expect(await distinct(fields)).toBeGreaterThan((await distinct({})) + 5);
  });

  test('logit_bias makes a token appear or keeps it out', async () => {
    const [first = -1] = await tokensOf({ temperature: 0 });
    expect(await tokensOf({ logit_bias: { [idOf('z')]: 100 }, max_tokens: 3 })).toEqual([idOf('z'), idOf('z'), idOf('z')]);
    const without = await tokensOf({ temperature: 0, logit_bias: { [first]: -100 } });
    expect(without).not.toContain(first);
  });

  test('only allowed_token_ids appear', async () => {
    const allowed = ['a', 'b', ' the'].map(idOf);
    expect(new Set(await tokensOf({ allowed_token_ids: allowed, seed: 1 }))).toEqual(new Set(allowed));
  });

  test('bad_words never appear, with or without a space before them', async () => {
    const plain = await textOf({ temperature: 0, max_tokens: 100 });
    expect(plain).toMatch(/\bthe\b/);
    expect(await textOf({ temperature: 0, max_tokens: 100, bad_words: ['the'] })).not.toMatch(/\bthe\b/);
  });
});

describe('the end of an answer', () => {
  const END = String(model.endOfTurn);

  test('comes only after min_tokens', async () => {
    const eager = { logit_bias: { [END]: 100 }, temperature: 0 };
    expect((await choiceOf(eager)).token_ids).toEqual([model.endOfTurn]);
    const late = await choiceOf({ ...eager, min_tokens: 12 });
    expect(late.token_ids).toHaveLength(13);
    expect(late.finish_reason).toBe('stop');
  });

  test('is not caused by a stop string before min_tokens', async () => {
    const text = await textOf({ temperature: 0 });
    const stop = text.slice(2, 5);
    expect((await textOf({ temperature: 0, stop })).length).toBeLessThan(3);
    expect((await textOf({ temperature: 0, stop, min_tokens: 10 })).length).toBeGreaterThan(10);
  });

  test('comes only at max_tokens with ignore_eos', async () => {
    const choice = await choiceOf({ logit_bias: { [END]: 100 }, temperature: 0, ignore_eos: true, max_tokens: 7 });
    expect(choice).toMatchObject({ finish_reason: 'length', stop_reason: null, message: { content: '' } });
    expect(choice.token_ids).toHaveLength(7);
  });

  test('comes at a stop token, which is the stop reason and is included only if requested', async () => {
    const tokens = await tokensOf({ temperature: 0 });
    const stop = tokens[5] ?? -1;
    const before = tokenizer.decode(tokens.slice(0, tokens.indexOf(stop)));
    const fields = { temperature: 0, stop_token_ids: [stop] };
    expect(await choiceOf(fields)).toMatchObject({ finish_reason: 'stop', stop_reason: stop, message: { content: before } });
    const shown = await textOf({ ...fields, include_stop_str_in_output: true });
    expect(shown).toBe(before + tokenizer.decode([stop]));
  });

  test('includes the stop string only if requested', async () => {
    const text = await textOf({ temperature: 0 });
    const stop = text.slice(11, 15);
    const end = text.indexOf(stop);
    expect(await textOf({ temperature: 0, stop })).toBe(text.slice(0, end));
    expect(await textOf({ temperature: 0, stop, include_stop_str_in_output: true })).toBe(text.slice(0, end + stop.length));
  });

  test('includes the end-of-turn token if skip_special_tokens is false', async () => {
    const fields = { temperature: 0, logit_bias: { [END]: 100 }, min_tokens: 2 };
    expect(await textOf({ ...fields, skip_special_tokens: false })).toBe(`${await textOf(fields)}<|im_end|>`);
  });
});

describe('an echo', () => {
  const prompt = tokenizer.encodeChat([{ role: 'user', content: question[0]?.content ?? '' }]);

  test('is the whole prompt before the answer, without special tokens', async () => {
    const plain = await textOf({ temperature: 0 });
    expect(await textOf({ temperature: 0, echo: true })).toBe(`user\n${question[0]?.content}\nassistant\n${plain}`);
    expect(await textOf({ temperature: 0, echo: false })).toBe(plain);
  });

  test('is only the last tokens with echo_last', async () => {
    const plain = await textOf({ temperature: 0 });
    expect(await textOf({ temperature: 0, echo_last: 6 })).toBe(tokenizer.decode(prompt.slice(-6)) + plain);
    expect(await textOf({ temperature: 0, echo_last: 0 })).toBe(plain);
  });
});

describe('a continued message', () => {
  const messages = [...question, { role: 'assistant', content: 'A lock ' }];
  const continued = { messages, add_generation_prompt: false, continue_final_message: true };

  test('ends the prompt, so that the answer is only the rest', async () => {
    const reply = (await (await invoke(container, { max_tokens: 3, return_token_ids: true, ...continued })).json()) as Completion;
    expect(reply.prompt_token_ids).toEqual([...tokenizer.encodeChat(question as never), ...tokenizer.encodeText('A lock ')]);
    expect(reply.choices[0]?.message.content).not.toMatch(/^A lock /);
  });

  test('has no reasoning before its rest', async () => {
    const reply = (await (await invoke(container, { model: REASONING_MODEL_NAME, max_tokens: 20, ...continued })).json()) as Completion;
    expect(reply.choices[0]?.message.reasoning ?? null).toBeNull();
  });

  test('rejects the start of another message after it', async () => {
    const reply = await invoke(container, { ...continued, add_generation_prompt: true });
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain('Cannot set both `continue_final_message` and `add_generation_prompt` to True.');
  });
});
