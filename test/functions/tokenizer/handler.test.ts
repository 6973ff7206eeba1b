import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createMemoryStore } from '../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../infra/local/s3/server.ts';
import { encodedLength, texts } from '../../shared/tokens/fixtures.ts';

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
  ({ handler } = await import('../../../functions/tokenizer/handler.ts'));
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

  test('says which messages stay', async () => {
    const answer = await handler({ operation: 'fit', files, prompt, max_prompt_tokens: promptTokens - 1 });
    expect(answer).toEqual({ prompt_tokens: expect.any(Number), kept: [0, 3] });
  });

  test('says what must stay, and its length, where even that is too long', async () => {
    expect(await handler({ operation: 'fit', files, prompt, max_prompt_tokens: 1 })).toMatchObject({ kept: [0, 3] });
  });
});

test('count gives the length of a prompt and of each text', async () => {
  const answer = await handler({ operation: 'count', files, prompt, texts: ['a river', ''] });
  expect(answer).toEqual({ prompt_tokens: promptTokens, text_tokens: [encodedLength(json, 'a river'), 0] });
  expect(await handler({ operation: 'count', files, prompt: null, texts: [] })).toEqual({ prompt_tokens: null, text_tokens: [] });
});

test('a template that refuses the messages is an answer', async () => {
  await upload('strict.jinja', "{{ raise_exception('Roles must alternate.') }}");
  const event = { operation: 'fit', files: { ...files, chat_template: 'strict.jinja' }, prompt, max_prompt_tokens: null };
  expect(await handler(event)).toEqual({ refused: 'Roles must alternate.' });
});

test.each([
  ['an unknown operation', { operation: 'guess' }],
  ['a prompt without messages', { operation: 'fit', files, prompt: { messages: [] }, max_prompt_tokens: null }],
  ['no bound', { operation: 'fit', files, prompt }],
  ['a file that is not there', { operation: 'fit', files: { tokenizer: 'gone' }, prompt, max_prompt_tokens: null }],
])('%s fails', async (_name, event) => {
  await expect(handler(event)).rejects.toThrow();
});

test('a file of more than 64 MB fails', async () => {
  await upload('huge.json', Buffer.alloc(64 * 1024 * 1024 + 1));
  await expect(handler({ operation: 'count', files: { ...files, tokenizer: 'huge.json' }, prompt: null, texts: [] })).rejects.toThrow(
    'has more than',
  );
});
