import * as z from 'zod';
import { TemplateFailed } from '../../../shared/tokens/errors.ts';
import { createAddedTokens } from './added-tokens.ts';
import { createRenderPrompt, type RenderPrompt, type SpecialTokens } from './chat-template.ts';
import { createDecodeTokens, type DecodeTokens } from './decode-tokens.ts';
import { createEncodeText, type EncodeText } from './encode-text.ts';
import { createTokenCounters, type TokenCounter } from './token-counter.ts';
import { createParts, type TokenizerParts } from './tokenizer-parts.ts';
import { createWords } from './words.ts';

/** A model's tokenizer and chat template, loaded. */
export interface LoadedTokenizer {
  render: RenderPrompt;
  /** Creates a counter for one request. */
  createCounter(): TokenCounter;
  encode: EncodeText;
  decode: DecodeTokens;
  /** A token as the vocabulary spells it; undefined for an unknown id. */
  tokenOf(id: number): string | undefined;
}

/** The largest file of a tokenizer: real ones have about 20 MB, and the function's memory is limited. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The texts of a tokenizer's files. */
export interface TokenizerTexts {
  tokenizer: string;
  config?: string | undefined;
  chatTemplate?: string | undefined;
}

const TokenText = z.union([z.string(), z.object({ content: z.string() }).transform(({ content }) => content)]);
const Template = z.union([z.string(), z.array(z.object({ name: z.string(), template: z.string() }))]);

// `*_token` fields are read too, without validation.
const TokenizerConfig = z.looseObject({ chat_template: Template.nullish() });

// A model can have another chat template for prompts with tools.
interface TemplateSources {
  plain: string;
  withTools?: string | undefined;
}

const sourcesOf = (template: z.infer<typeof Template> | null | undefined): TemplateSources | undefined => {
  if (!Array.isArray(template)) return template ? { plain: template } : undefined;
  const named = (wanted: string): string | undefined => template.find(({ name }) => name === wanted)?.template;
  const plain = named('default');
  return plain === undefined ? undefined : { plain, withTools: named('tool_use') };
};

const createRender = ({ plain, withTools }: TemplateSources, specialTokens: SpecialTokens): RenderPrompt => {
  const render = createRenderPrompt(plain, specialTokens);
  if (withTools === undefined) return render;
  const renderWithTools = createRenderPrompt(withTools, specialTokens);
  return (prompt, options) => (prompt.tools === undefined ? render : renderWithTools)(prompt, options);
};

const specialTokensOf = (config: Record<string, unknown>): SpecialTokens =>
  Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => {
      const text = name.endsWith('_token') && TokenText.safeParse(value).data;
      return typeof text === 'string' ? [[name, text]] : [];
    }),
  );

const readJson = (text: string, file: string): object => {
  try {
    return JSON.parse(text) as object;
  } catch {
    throw new Error(`${file} is not JSON.`);
  }
};

const whileReading = <Result>(file: string, read: () => Result): Result => {
  try {
    return read();
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
};

const createTextTools = (parts: TokenizerParts): Omit<LoadedTokenizer, 'render'> => {
  const addedTokens = createAddedTokens(parts);
  const words = createWords(parts);
  return {
    createCounter: createTokenCounters(addedTokens, words),
    encode: createEncodeText(parts, addedTokens, words),
    decode: createDecodeTokens(parts),
    tokenOf: (id) => parts.model.vocab[id],
  };
};

const renderNothing: RenderPrompt = () => {
  throw new TemplateFailed(
    new Error('There is no chat template. Add a chat template file, or set chat_template in tokenizer_config.json.'),
  );
};

/**
 * Loads a tokenizer from the texts of its files.
 * Without a chat template, as models have that generate no text, it renders nothing.
 * @throws Error naming the file that can't be read
 */
export const loadTokenizer = ({ tokenizer, config = '{}', chatTemplate }: TokenizerTexts): LoadedTokenizer => {
  const json = readJson(tokenizer, 'tokenizer.json');
  const text = whileReading('tokenizer.json', () => createTextTools(createParts(json)));
  const settings = whileReading('tokenizer_config.json', () => TokenizerConfig.parse(readJson(config, 'tokenizer_config.json')));
  const sources = chatTemplate === undefined ? sourcesOf(settings.chat_template) : { plain: chatTemplate };
  const render = sources ? whileReading('The chat template', () => createRender(sources, specialTokensOf(settings))) : renderNothing;
  return { render, ...text };
};
