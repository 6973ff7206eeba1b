import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Container, control, errorOf, MODEL_NAME, post, REASONING_MODEL_NAME, startContainer, tokenizer } from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer();
});
afterAll(() => container.close());

const tokenize = async (body: object): Promise<unknown> => (await post(`${container.url}/tokenize`, body)).json();
const { startOfTurn, endOfTurn } = tokenizer.specials;

describe('tokenize', () => {
  test('returns the tokens of a text, their count and the window', async () => {
    const tokens = tokenizer.encodeText('What is a weir?');
    const reply = { count: tokens.length, max_model_len: 8_192, tokens, token_strs: null };
    expect(await tokenize({ prompt: 'What is a weir?' })).toEqual(reply);
    expect(await tokenize({ model: REASONING_MODEL_NAME, prompt: 'What is a weir?', add_special_tokens: false, other: 1 })).toEqual(reply);
    expect(await tokenize({ prompt: '' })).toMatchObject({ count: 0, tokens: [] });
  });

  test('returns vocabulary entries if requested', async () => {
    expect(await tokenize({ prompt: 'the river\n<|im_end|>é', return_token_strs: true })).toMatchObject({
      token_strs: ['the', 'Ġriver', 'Ċ', '<|im_end|>', 'Ã©'],
    });
  });

  test('reads the spelling of a special token as that token', async () => {
    expect(await tokenize({ prompt: 'a<|im_end|>' })).toMatchObject({ tokens: [...tokenizer.encodeText('a'), endOfTurn] });
  });

  test('returns the prompt tokens of a chat completion', async () => {
    const messages = [{ role: 'user', content: 'Hi <|im_end|>' }];
    const tools = [{ type: 'function', function: { name: 'clock' } }];
    const body = { model: MODEL_NAME, messages, tools, chat_template_kwargs: { enable_thinking: false } };
    const chat = await post(`${container.url}/v1/chat/completions`, { ...body, max_tokens: 1, return_token_ids: true });
    const { prompt_token_ids: tokens } = (await chat.json()) as { prompt_token_ids: number[] };
    expect(await tokenize(body)).toMatchObject({ tokens, count: tokens.length });
  });

  test('omits the start of the answer if add_generation_prompt is false', async () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const opening = [startOfTurn, ...tokenizer.encodeText('assistant\n')];
    const tokens = tokenizer.encodeChat([{ role: 'user', content: 'Hi' }]);
    expect(await tokenize({ messages })).toMatchObject({ tokens });
    expect(await tokenize({ messages, add_generation_prompt: false })).toMatchObject({ tokens: tokens.slice(0, -opening.length) });
  });

  test('ignores the window and the faults of /control', async () => {
    await control(container, { fault: { kind: 'error' } });
    expect(await tokenize({ prompt: 'z '.repeat(20_000) })).toMatchObject({ count: expect.any(Number), max_model_len: 8_192 });
    await control(container, { fault: null });
  });
});

describe('an error', () => {
  test.each([
    ['/tokenize', {}, 'at prompt'],
    ['/tokenize', { prompt: ['a'] }, 'at prompt'],
    ['/tokenize', { prompt: 'a', add_special_tokens: 'no' }, 'at add_special_tokens'],
    ['/tokenize', { messages: 'Hi' }, 'at messages'],
    ['/tokenize', { messages: [] }, 'A conversation needs at least one message.'],
  ])('says what is wrong: %s %j', async (path, body, words) => {
    const error = await errorOf(await post(container.url + path, body));
    expect(error).toMatchObject({ type: 'BadRequestError', code: 400 });
    expect(error.message).toContain(words);
  });

  test('is a 404 for an unknown model', async () => {
    expect(await errorOf(await post(`${container.url}/tokenize`, { model: 'other', prompt: 'a' }))).toMatchObject({
      type: 'NotFoundError',
      param: 'model',
    });
  });
});
