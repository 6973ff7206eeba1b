import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { NewKey } from '../../shared/keys/limiter.ts';
import { Model } from '../../shared/models/model.ts';
import { priceAt } from '../../shared/prices/price.ts';
import type { TokenizerTexts } from '../../shared/tokens/loaded-tokenizer.ts';
import { checkTokenizer } from './tokenizer-files.ts';

export const USAGE = `Usage: npm run admin -- <command> [options]

  publish-model --file model.json    Publish a model of the serverless host. The file holds its name, sizes, targets and prices
                                     (docs/operations.md shows one).
      [--tokenizer tokenizer.json [--tokenizer-config tokenizer_config.json] [--chat-template chat_template.jinja]]
                                     The model's own files, which are uploaded: with them prompts are counted and shortened.
  create-key --org ID                Create an API key of the serverless host and print it once.
      [--requests-per-minute N] [--tokens-per-minute N] [--concurrency N] [--models a,b] [--expires 2027-01-01]

  --stack NAME                       The data stack whose tables and bucket are meant (default sluice-data). KEYS_TABLE,
                                     MODELS_TABLE and TOKENIZERS_BUCKET in the environment name them directly.
`;

const options = {
  file: { type: 'string' },
  tokenizer: { type: 'string' },
  'tokenizer-config': { type: 'string' },
  'chat-template': { type: 'string' },
  org: { type: 'string' },
  'requests-per-minute': { type: 'string', default: '600' },
  'tokens-per-minute': { type: 'string', default: '200000' },
  concurrency: { type: 'string', default: '32' },
  models: { type: 'string' },
  expires: { type: 'string' },
  stack: { type: 'string', default: 'sluice-data' },
} as const;

export type Command = { stack: string } & (
  | { command: 'publish-model'; model: Model; tokenizer: TokenizerTexts | undefined }
  | { command: 'create-key'; key: NewKey }
);

/** A mistake in the command line: told without a stack trace. */
export class UsageError extends Error {}

/** The command that the arguments ask for, checked whole before anything is done. */
export const readCommand = (args: string[], nowMs: number): Command => {
  const { positionals, values } = parseStrictly(args);
  const [command] = positionals;
  if (command === 'publish-model') {
    if (!values.file) throw new UsageError('publish-model needs --file.');
    const model = checked(Model, readJson(values.file, nowMs), values.file);
    if (!priceAt(model.prices, nowMs))
      throw new UsageError(`${values.file} has no price whose effective_at has come: the model could not be called.`);
    return { command, stack: values.stack, model, tokenizer: readTokenizer(values) };
  }
  if (command === 'create-key') {
    const key = {
      org: values.org,
      scope: 'serverless',
      requests_per_minute: Number(values['requests-per-minute']),
      tokens_per_minute: Number(values['tokens-per-minute']),
      concurrency: Number(values.concurrency),
      ...(values.models && { models: values.models.split(',').map((name) => name.trim()) }),
      ...(values.expires && { expires_at: Date.parse(values.expires) }),
    };
    return { command, stack: values.stack, key: checked(NewKey, key, 'the options') };
  }
  throw new UsageError(command ? `There is no command '${command}'.` : 'A command is missing.');
};

const parseStrictly = (args: string[]) => {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`${file} cannot be read.`);
  }
};

/** The model's own files, made sure to be of use. */
const readTokenizer = (files: {
  tokenizer?: string;
  'tokenizer-config'?: string;
  'chat-template'?: string;
}): TokenizerTexts | undefined => {
  const { tokenizer, 'tokenizer-config': config, 'chat-template': chatTemplate } = files;
  if (!tokenizer) {
    if (config ?? chatTemplate) throw new UsageError('--tokenizer-config and --chat-template need --tokenizer.');
    return undefined;
  }
  const texts = {
    tokenizer: readText(tokenizer),
    config: config && readText(config),
    chatTemplate: chatTemplate && readText(chatTemplate),
  };
  try {
    checkTokenizer(texts);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  return texts;
};

/** A model file; what it need not say is filled in. */
const readJson = (file: string, nowMs: number): unknown => {
  const text = readText(file);
  try {
    return { status: 'published', created: Math.floor(nowMs / 1_000), ...(JSON.parse(text) as object) };
  } catch {
    throw new UsageError(`${file} is not JSON.`);
  }
};

const checked = <Schema extends z.ZodType>(schema: Schema, value: unknown, source: string): z.output<Schema> => {
  const result = schema.safeParse(value);
  if (!result.success) throw new UsageError(`${source} is not as expected:\n${z.prettifyError(result.error)}`);
  return result.data;
};
