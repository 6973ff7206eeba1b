import { createHash } from 'node:crypto';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod';
import { countPrompt } from '../../../functions/tokenizer/engine/fit-prompt.ts';
import {
  type LoadedTokenizer,
  loadTokenizer,
  MAX_FILE_BYTES,
  type TokenizerTexts,
} from '../../../functions/tokenizer/engine/loaded-tokenizer.ts';
import { type ModelTask, TOKENIZER_FILE_NAMES, type TokenizerFiles } from '../../../shared/models/model.ts';
import { TemplateFailed } from '../../../shared/tokens/errors.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';

const NAMES: Record<keyof TokenizerTexts, string> = {
  tokenizer: TOKENIZER_FILE_NAMES.tokenizer,
  config: TOKENIZER_FILE_NAMES.config,
  chatTemplate: TOKENIZER_FILE_NAMES.chat_template,
};

const checkSizes = (texts: TokenizerTexts): void => {
  for (const [text, name] of Object.entries(NAMES)) {
    const bytes = Buffer.byteLength(texts[text as keyof TokenizerTexts] ?? '');
    if (bytes > MAX_FILE_BYTES) throw new Error(`${name} has ${bytes} bytes. A tokenizer file can have at most ${MAX_FILE_BYTES}.`);
  }
};

const MESSAGE: ChatPrompt = { messages: [{ role: 'user', content: 'Hello.' }] };
// Some templates render only chats with tools.
const MESSAGE_WITH_TOOL: ChatPrompt = {
  ...MESSAGE,
  tools: JSON.stringify([
    { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } } },
  ]),
};

const canCount = (tokenizer: LoadedTokenizer, prompt: ChatPrompt): boolean => {
  try {
    countPrompt(tokenizer, prompt);
    return true;
  } catch {
    return false;
  }
};

/**
 * Checks that a model's files can count a prompt, or only a text if the model generates none.
 * @throws Error that names a file that is too large or invalid, the construct of the chat template that can't be
 * rendered as Jinja does, or the reason
 *     why the template cannot render a plain message
 */
export const checkTokenizer = (texts: TokenizerTexts, task: ModelTask): void => {
  checkSizes(texts);
  const tokenizer = loadTokenizer(texts);
  if (task !== 'generate') return;
  try {
    countPrompt(tokenizer, MESSAGE);
  } catch (error) {
    if (canCount(tokenizer, MESSAGE_WITH_TOOL)) return;
    const fault = error instanceof TemplateFailed ? error.cause : error;
    const words = fault instanceof Error ? fault.message : String(fault);
    throw new Error(`The chat template cannot render a single user message: ${words}`, { cause: error });
  }
};

// The key follows from the content, so an object never changes and functions can cache it.
const keyOf = (content: string, name: string): string => `sha256/${createHash('sha256').update(content).digest('hex')}/${name}`;

// Hugging Face vocabularies are objects, or lists of pairs in Unigram models.
const Vocabulary = z.looseObject({
  added_tokens: z.array(z.looseObject({ id: z.int() })).default([]),
  model: z.looseObject({ vocab: z.union([z.array(z.unknown()).transform(({ length }) => length - 1), z.record(z.string(), z.int())]) }),
});

// One more than the highest token id.
const vocabularySizeOf = (tokenizer: string): number => {
  const { model, added_tokens } = Vocabulary.parse(JSON.parse(tokenizer));
  const highest = typeof model.vocab === 'number' ? model.vocab : Object.values(model.vocab).reduce((most, id) => Math.max(most, id), -1);
  return added_tokens.reduce((most, { id }) => Math.max(most, id), highest) + 1;
};

/** Uploads a model's files to the tokenizers bucket and returns their keys. Idempotent. */
export const uploadTokenizer = async (client: S3Client, bucket: string, texts: TokenizerTexts): Promise<TokenizerFiles> => {
  const upload = async (content: string, name: string): Promise<string> => {
    const key = keyOf(content, name);
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: content }));
    return key;
  };
  const { tokenizer, config, chatTemplate } = texts;
  return {
    vocabulary_size: vocabularySizeOf(tokenizer),
    tokenizer: await upload(tokenizer, NAMES.tokenizer),
    ...(config !== undefined && { config: await upload(config, NAMES.config) }),
    ...(chatTemplate !== undefined && { chat_template: await upload(chatTemplate, NAMES.chatTemplate) }),
  };
};
