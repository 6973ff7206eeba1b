import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { createMemoryStore } from '../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../infra/local/s3/server.ts';
import { encodedLength, load, texts } from '../../support/emulators/tokenizers.ts';

const BUCKET = 'tokenizers';
const files = { tokenizer: 'sha256/1/tokenizer.json', chat_template: 'sha256/2/chat_template.jinja' };
const json = JSON.parse(texts.tokenizer);
const prompt = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Tell me about rivers.' },
    { role: 'assistant', content: 'They flow.' },
    { role: 'user', content: 'And harbours?' },
  ],
};
const promptTokens = encodedLength(
  json,
  `${prompt.messages.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`).join('')}<|im_start|>assistant\n`,
);

const local = load(json);

let s3: S3Emulator;
let handler: (event: unknown) => Promise<unknown>;
let upload: (key: string, content: string | Buffer) => Promise<unknown>;
beforeAll(async () => {
  s3 = await startS3(new Set([BUCKET]), createMemoryStore());
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_S3: s3.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
    TOKENIZERS_BUCKET: BUCKET,
  });
  const client = new S3Client();
  upload = (Key, Body) => client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }));
  await upload(files.tokenizer, texts.tokenizer);
  await upload(files.chat_template, texts.chatTemplate);
  const tokenizer = await import('../../../functions/tokenizer/handler.ts');
  handler = (event) => tokenizer.handler(event, {} as Context);
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => s3.close());

describe('fit', () => {
  test('counts a prompt exactly', async () => {
    const event = { operation: 'fit', files, prompt, max_prompt_tokens: null };
    expect(await handler(event)).toEqual({ prompt_tokens: promptTokens, kept: null });
  });

  test('returns the messages to keep', async () => {
    const answer = await handler({ operation: 'fit', files, prompt, max_prompt_tokens: promptTokens - 1 });
    expect(answer).toEqual({ prompt_tokens: expect.any(Number), kept: [0, 3] });
  });

  test('returns the messages that must stay, and their length, even if they are too long', async () => {
    expect(await handler({ operation: 'fit', files, prompt, max_prompt_tokens: 1 })).toMatchObject({ kept: [0, 3] });
  });
});

test('returns the length of a prompt and of each text for count', async () => {
  const answer = await handler({ operation: 'count', files, prompt, texts: ['a river', ''] });
  expect(answer).toEqual({ prompt_tokens: promptTokens, text_tokens: [encodedLength(json, 'a river'), 0], special_tokens: 0 });
  expect(await handler({ operation: 'count', files, prompt: null, texts: [] })).toEqual({
    prompt_tokens: null,
    text_tokens: [],
    special_tokens: 0,
  });
});

describe('tokenize', () => {
  const settings = { add_special_tokens: true, add_generation_prompt: true, return_token_strs: false };
  const ask = (input: unknown, changes: object = {}) => handler({ operation: 'tokenize', files, input, ...settings, ...changes });

  test('returns the tokens of a text, and their strings if requested', async () => {
    expect(await ask('a river')).toEqual({ tokens: local.encode('a river', true), token_strs: null });
    expect(await ask('a river', { return_token_strs: true })).toMatchObject({ token_strs: ['a', 'Ġriver'] });
    expect(await ask('')).toEqual({ tokens: [], token_strs: null });
  });

  test('returns as many tokens of a prompt as fit counts', async () => {
    const { tokens } = (await ask(prompt)) as { tokens: number[] };
    expect(tokens).toHaveLength(promptTokens);
    const ended = (await ask(prompt, { add_generation_prompt: false })) as { tokens: number[] };
    expect(tokens).toEqual([...ended.tokens, ...local.encode('<|im_start|>assistant\n', false)]);
  });

  test('reports more tokens, or longer token strings, than an answer can have', async () => {
    expect(Object.keys((await ask('\u0001'.repeat(240_000))) as object)).toEqual(['tokens', 'token_strs']);
    expect(Object.keys((await ask('\u0001'.repeat(240_001))) as object)).toEqual(['too_large']);
    const content = '<|a rather long one|>';
    const [first] = json.added_tokens;
    await upload('long.json', JSON.stringify({ ...json, added_tokens: [...json.added_tokens, { ...first, id: 9_999, content }] }));
    const long = { files: { ...files, tokenizer: 'long.json' } };
    expect(Object.keys((await ask(content.repeat(240_000), long)) as object)).toEqual(['tokens', 'token_strs']);
    const withStrings = await ask(content.repeat(240_000), { ...long, return_token_strs: true });
    expect(Object.keys(withStrings as object)).toEqual(['too_large']);
  });
});

describe('detokenize', () => {
  const ask = (tokens: unknown) => handler({ operation: 'detokenize', files, tokens });
  const [endOfText = 0] = local.encode('<|endoftext|>', false);

  test('returns the text of tokens, including special ones', async () => {
    expect(await ask([...local.encode(' a river 🙂', false), endOfText])).toEqual({ text: ' a river 🙂<|endoftext|>' });
    expect(await ask([])).toEqual({ text: '' });
  });

  test('returns the index of the first unknown token', async () => {
    expect(await ask([1, endOfText, endOfText + 1, 1e9])).toEqual({ unknown_at: 2 });
  });

  test('reports a text that is longer than an answer can be', async () => {
    expect(await ask(Array(500_000).fill(endOfText))).toEqual({ too_large: true });
  });

  test.each([[[-1]], [[0.5]], [['a']], [[null]], ['1'], [null]])('rejects %j', async (tokens) => {
    await expect(ask(tokens)).rejects.toThrow();
  });
});

test('answers with the rejection of a template', async () => {
  await upload('strict.jinja', "{{ raise_exception('Roles must alternate.') }}");
  const event = { operation: 'fit', files: { ...files, chat_template: 'strict.jinja' }, prompt, max_prompt_tokens: null };
  expect(await handler(event)).toEqual({ refused: 'Roles must alternate.', by: 'template' });
  const tokenize = { add_special_tokens: false, add_generation_prompt: true, return_token_strs: false, input: prompt };
  const refusal = { refused: 'Roles must alternate.', by: 'template' };
  expect(await handler({ operation: 'tokenize', files: event.files, ...tokenize })).toEqual(refusal);
});

describe('a template that fails on the messages', () => {
  const broken = { ...files, chat_template: 'broken.jinja' };
  const refusal = { refused: expect.stringContaining('cannot be rendered'), by: 'template' };
  const logged = (): string => (process.stdout.write as jest.Mock).mock.calls.join('');
  beforeAll(() => upload('broken.jinja', "{{ '// ' + messages[0].description }}"));

  test('is a rejection for tokenize, and for fit with a limit', async () => {
    const settings = { add_special_tokens: false, add_generation_prompt: true, return_token_strs: false };
    expect(await handler({ operation: 'tokenize', files: broken, input: prompt, ...settings })).toEqual(refusal);
    expect(await handler({ operation: 'fit', files: broken, prompt, max_prompt_tokens: 20 })).toEqual(refusal);
  });

  test('returns no count if only the length was requested', async () => {
    expect(await handler({ operation: 'fit', files: broken, prompt, max_prompt_tokens: null })).toEqual({
      prompt_tokens: null,
      kept: null,
    });
    const answer = await handler({ operation: 'count', files: broken, prompt, texts: ['a river'] });
    expect(answer).toEqual({ prompt_tokens: null, text_tokens: [2], special_tokens: 0 });
  });

  test('is logged with its own error, which no caller sees, and without the messages', async () => {
    await handler({ operation: 'fit', files: broken, prompt, max_prompt_tokens: 20 });
    expect(logged()).toMatch(/"ERROR","message":"template_failed","files":\{.*"broken.jinja".*"detail":"[^"]*undefined/);
    expect(logged()).not.toContain('rivers');
  });
});

describe('a text that would take too long', () => {
  const endless = 'x'.repeat(400_001);
  const refusal = { refused: expect.stringContaining('400000 bytes'), by: 'tokenizer' };

  test('is rejected, also as a part of a prompt', async () => {
    const settings = { add_special_tokens: false, add_generation_prompt: true, return_token_strs: false };
    const long = { messages: [{ role: 'user', content: endless }] };
    for (const input of [endless, long]) expect(await handler({ operation: 'tokenize', files, input, ...settings })).toEqual(refusal);
    for (const max_prompt_tokens of [null, 20])
      expect(await handler({ operation: 'fit', files, prompt: long, max_prompt_tokens })).toEqual(refusal);
    expect(await handler({ operation: 'count', files, prompt: null, texts: [endless] })).toEqual(refusal);
  });

  test('does not prevent counting the answer if it is in a prompt', async () => {
    const answer = await handler({
      operation: 'count',
      files,
      prompt: { messages: [{ role: 'user', content: endless }] },
      texts: ['a river'],
    });
    expect(answer).toEqual({ prompt_tokens: null, text_tokens: [2], special_tokens: 0 });
  });
});

test.each([
  ['an unknown operation', { operation: 'guess' }],
  ['a prompt without messages', { operation: 'fit', files, prompt: { messages: [] }, max_prompt_tokens: null }],
  ['no bound', { operation: 'fit', files, prompt }],
  ['a file that is not there', { operation: 'fit', files: { tokenizer: 'gone' }, prompt, max_prompt_tokens: null }],
])('%s fails', async (_name, event) => {
  await expect(handler(event)).rejects.toThrow();
});

test('fails at a file of more than 64 MB', async () => {
  await upload('huge.json', Buffer.alloc(64 * 1024 * 1024 + 1));
  await expect(handler({ operation: 'count', files: { ...files, tokenizer: 'huge.json' }, prompt: null, texts: [] })).rejects.toThrow(
    'has more than',
  );
});
