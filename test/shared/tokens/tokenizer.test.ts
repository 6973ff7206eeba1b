import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PromptRefused } from '../../../shared/tokens/errors.ts';
import { createTokenizer, type Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import { startFakeLambda } from '../lambda/fake-lambda.ts';

let lambda: Awaited<ReturnType<typeof startFakeLambda>>;
let tokenizer: Tokenizer;
beforeAll(async () => {
  lambda = await startFakeLambda();
  tokenizer = createTokenizer('the-tokenizer');
});
afterAll(() => lambda.close());

const files = { tokenizer: 'sha256/1/tokenizer.json' };
const prompt = { messages: [{ role: 'user' as const, content: 'Hi' }] };
const askFit = () => tokenizer.fit({ files, prompt, max_prompt_tokens: 5 });

test('a question goes to the function with its operation, and its answer comes back', async () => {
  lambda.answers((response) => response.end('{"prompt_tokens":3,"kept":[0]}'));
  expect(await askFit()).toEqual({ prompt_tokens: 3, kept: [0] });
  expect(JSON.parse(lambda.received[0]?.body ?? '')).toEqual({ operation: 'fit', files, prompt, max_prompt_tokens: 5 });

  lambda.answers((response) => response.end('{"prompt_tokens":null,"text_tokens":[1,2]}'));
  expect(await tokenizer.count({ files, prompt: null, texts: ['a', 'b c'] })).toEqual({ prompt_tokens: null, text_tokens: [1, 2] });
  expect(lambda.received[0]?.path).toContain('/the-tokenizer/');
});

test('a template that refuses the messages is the caller to tell, in its words', async () => {
  lambda.answers((response) => response.end('{"refused":"Roles must alternate."}'));
  const error = await askFit().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PromptRefused);
  expect(error).toMatchObject({ status: 400, param: 'messages', message: expect.stringContaining('Roles must alternate.') });
});

test.each(['{}', 'null', '{"prompt_tokens":-1,"kept":null}', '{"prompt_tokens":1}'])('the answer %s is a 503', async (body) => {
  lambda.answers((response) => response.end(body));
  await expect(askFit()).rejects.toMatchObject({ status: 503 });
});
