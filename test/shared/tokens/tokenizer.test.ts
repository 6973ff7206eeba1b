import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createInvokeFunction } from '../../../shared/aws/invoke-function.ts';
import { PromptRefused, TooLargeToTokenize, UnknownTokenId } from '../../../shared/tokens/errors.ts';
import { createTokenizer, type Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import { startFakeLambda } from '../../support/emulators/fake-lambda.ts';

let lambda: Awaited<ReturnType<typeof startFakeLambda>>;
let tokenizer: Tokenizer;
beforeAll(async () => {
  lambda = await startFakeLambda();
  tokenizer = createTokenizer(createInvokeFunction(), 'the-tokenizer');
});
afterAll(() => lambda.close());

const files = { tokenizer: 'sha256/1/tokenizer.json' };
const prompt = { messages: [{ role: 'user' as const, content: 'Hi' }] };
const askFit = () => tokenizer.fit({ files, prompt, max_prompt_tokens: 5 });

test('sends a question with its operation to the function, and returns its answer', async () => {
  lambda.answers((response) => response.end('{"prompt_tokens":3,"kept":[0]}'));
  expect(await askFit()).toEqual({ prompt_tokens: 3, kept: [0] });
  expect(JSON.parse(lambda.received[0]?.body ?? '')).toEqual({ operation: 'fit', files, prompt, max_prompt_tokens: 5 });

  lambda.answers((response) => response.end('{"prompt_tokens":null,"text_tokens":[1,2]}'));
  expect(await tokenizer.count({ files, prompt: null, texts: ['a', 'b c'] })).toEqual({ prompt_tokens: null, text_tokens: [1, 2] });
  expect(lambda.received[0]?.path).toContain('/the-tokenizer/');
});

test('rejects with the template’s reason and a 400 if the template rejects the messages', async () => {
  lambda.answers((response) => response.end('{"refused":"Roles must alternate.","by":"template"}'));
  const error = await askFit().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PromptRefused);
  expect(error).toMatchObject({ status: 400, param: 'messages', message: expect.stringContaining('Roles must alternate.') });
});

test('rejects a prompt with a 413 that is larger than one function can send to another', async () => {
  const messages = [{ role: 'user' as const, content: 'x'.repeat(6 * 1024 * 1024) }];
  const error = await tokenizer.fit({ files, prompt: { messages }, max_prompt_tokens: 5 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 413, code: 'request_too_large', message: expect.stringContaining('about 6 MB at most') });
});

const settings = { files, add_special_tokens: true, add_generation_prompt: true, return_token_strs: false };
const askTokenize = (input: string | typeof prompt) => tokenizer.tokenize({ ...settings, input });
const askDetokenize = (tokens: number[]) => tokenizer.detokenize({ files, tokens });

test('converts texts to tokens and tokens to texts', async () => {
  lambda.answers((response) => response.end('{"tokens":[5,6],"token_strs":["a","b"]}'));
  expect(await askTokenize('a b')).toEqual({ tokens: [5, 6], token_strs: ['a', 'b'] });
  expect(JSON.parse(lambda.received[0]?.body ?? '')).toEqual({ operation: 'tokenize', ...settings, input: 'a b' });

  lambda.answers((response) => response.end('{"text":"a b"}'));
  expect(await askDetokenize([5, 6])).toEqual({ text: 'a b' });
  expect(JSON.parse(lambda.received[0]?.body ?? '')).toEqual({ operation: 'detokenize', files, tokens: [5, 6] });
});

test('names the field in errors that the caller must change', async () => {
  lambda.answers((response) => response.end('{"too_large":true}'));
  await expect(askTokenize('a')).rejects.toBeInstanceOf(TooLargeToTokenize);
  await expect(askTokenize('a')).rejects.toMatchObject({ status: 400, param: 'prompt' });
  await expect(askTokenize(prompt)).rejects.toMatchObject({ status: 400, param: 'messages' });
  await expect(askDetokenize([1])).rejects.toMatchObject({ status: 400, param: 'tokens' });

  lambda.answers((response) => response.end('{"unknown_at":1}'));
  await expect(askDetokenize([1, 777])).rejects.toBeInstanceOf(UnknownTokenId);
  await expect(askDetokenize([1, 777])).rejects.toMatchObject({ param: 'tokens[1]', message: expect.stringContaining('777') });

  lambda.answers((response) => response.end('{"refused":"Roles must alternate.","by":"template"}'));
  await expect(askTokenize(prompt)).rejects.toBeInstanceOf(PromptRefused);
});

test.each([
  '{}',
  'null',
  '{"tokens":[1]}',
  '{"tokens":[-1],"token_strs":null}',
  '{"tokens":1,"token_strs":null}',
  '{"text":1}',
  '{"too_large":false}',
])('rejects the answer %s for tokens and texts', async (body) => {
  lambda.answers((response) => response.end(body));
  await expect(askTokenize('a')).rejects.toMatchObject({ status: 503 });
  await expect(askDetokenize([1])).rejects.toMatchObject({ status: 503 });
});

test('rejects a text that takes too long with a 400 that names the field', async () => {
  lambda.answers((response) => response.end('{"refused":"long words","by":"tokenizer"}'));
  const refused = { status: 400, message: expect.stringContaining('it has long words.') };
  await expect(askTokenize('a')).rejects.toMatchObject({ ...refused, param: 'prompt' });
  await expect(askTokenize(prompt)).rejects.toMatchObject({ ...refused, param: 'messages' });
  await expect(askFit()).rejects.toMatchObject({ ...refused, param: 'messages' });
  await expect(tokenizer.count({ files, prompt: null, texts: ['a'] })).rejects.toMatchObject({ ...refused, param: 'prompt' });
});

test('returns null if the tokenizer cannot count the prompt', async () => {
  lambda.answers((response) => response.end('{"prompt_tokens":null,"kept":null}'));
  expect(await askFit()).toEqual({ prompt_tokens: null, kept: null });
});

test.each(['{}', 'null', '{"prompt_tokens":-1,"kept":null}', '{"prompt_tokens":1}'])(
  'throws a 503 for the invalid answer %s to fit',
  async (body) => {
    lambda.answers((response) => response.end(body));
    await expect(askFit()).rejects.toMatchObject({ status: 503 });
  },
);
