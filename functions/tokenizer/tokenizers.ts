import type { TokenizerFiles } from '../../shared/models/model.ts';
import { type LoadedTokenizer, loadTokenizer } from './engine/loaded-tokenizer.ts';

/** A large vocabulary needs about 150 MB of memory. */
const MAX_TOKENIZERS = 4;

/** Reads the text of a file by its key. */
export type ReadFile = (key: string) => Promise<string>;

/**
 * The tokenizers of an environment, loaded when they are first needed; the four most recently used are cached. A file's content never changes, so
 * the cache never becomes stale. A load that failed is retried by the next request.
 */
export const createTokenizers = (readFile: ReadFile) => {
  const loaded = new Map<string, Promise<LoadedTokenizer>>();

  const load = async (files: TokenizerFiles): Promise<LoadedTokenizer> => {
    const read = (key: string | undefined): Promise<string | undefined> => (key === undefined ? Promise.resolve(undefined) : readFile(key));
    const [tokenizer, config, chatTemplate] = await Promise.all([readFile(files.tokenizer), read(files.config), read(files.chat_template)]);
    return loadTokenizer({ tokenizer, config, chatTemplate });
  };

  return (files: TokenizerFiles): Promise<LoadedTokenizer> => {
    const name = JSON.stringify([files.tokenizer, files.config, files.chat_template]);
    const tokenizer = loaded.get(name) ?? load(files);
    // Moves the tokenizer to the end of the map, which is in order of use.
    loaded.delete(name);
    loaded.set(name, tokenizer);
    tokenizer.catch(() => {
      if (loaded.get(name) === tokenizer) loaded.delete(name);
    });
    for (const oldest of loaded.keys()) {
      if (loaded.size <= MAX_TOKENIZERS) break;
      loaded.delete(oldest);
    }
    return tokenizer;
  };
};

export type Tokenizers = ReturnType<typeof createTokenizers>;
