import type { TokenizerFiles } from '../../shared/models/model.ts';
import { type LoadedTokenizer, loadTokenizer } from './engine/loaded-tokenizer.ts';

// A large vocabulary needs about 150 MB of memory.
const MAX_TOKENIZERS = 5;
// Each of another organization. They can't evict those of shared models from the other places.
const MAX_OF_DEPLOYMENTS = 2;
// A load takes seconds of CPU, so requests don't repeat a load that failed.
const FAILED_MS = 5_000;
const MAX_FAILED = 100;

/** Reads the text of a file by its key. */
export type ReadFile = (key: string) => Promise<string>;

interface CachedTokenizer {
  /** The organization whose deployment uses it; undefined once a shared model does. */
  organization: string | undefined;
  tokenizer: Promise<LoadedTokenizer>;
}

const keepNewest = <Item>(map: Map<string, Item>, most: number, isCounted: (item: Item) => boolean = () => true): void => {
  const counted = [...map].filter(([, item]) => isCounted(item));
  for (const [name] of counted.slice(0, Math.max(0, counted.length - most))) map.delete(name);
};

/**
 * The tokenizers of an environment, loaded when they are first needed. It keeps the five most recently used: up to
 * two of deployments, one an organization, and at least three of shared models. A file's content never changes, so
 * the cache never becomes stale.
 */
export const createTokenizers = (readFile: ReadFile, now: () => number = Date.now) => {
  // Both maps are in order of use.
  const places = new Map<string, CachedTokenizer>();
  const failures = new Map<string, { error: unknown; untilMs: number }>();

  const load = async (files: TokenizerFiles): Promise<LoadedTokenizer> => {
    const read = (key: string | undefined): Promise<string | undefined> => (key === undefined ? Promise.resolve(undefined) : readFile(key));
    const [tokenizer, config, chatTemplate] = await Promise.all([readFile(files.tokenizer), read(files.config), read(files.chat_template)]);
    return loadTokenizer({ tokenizer, config, chatTemplate });
  };

  const evict = (organization: string | undefined): void => {
    if (organization !== undefined) keepNewest(places, 1, (place) => place.organization === organization);
    keepNewest(places, MAX_OF_DEPLOYMENTS, (place) => place.organization !== undefined);
    const ofDeployments = [...places.values()].filter((place) => place.organization !== undefined).length;
    keepNewest(places, MAX_TOKENIZERS - ofDeployments, (place) => place.organization === undefined);
  };

  const failed = (name: string, tokenizer: Promise<LoadedTokenizer>, error: unknown): void => {
    if (places.get(name)?.tokenizer === tokenizer) places.delete(name);
    failures.delete(name);
    failures.set(name, { error, untilMs: now() + FAILED_MS });
    keepNewest(failures, MAX_FAILED);
  };

  /**
   * @param organization the one whose deployment the files are of; undefined for a shared model
   * @throws the error of the last load, for five seconds after it failed
   */
  return async (files: TokenizerFiles, organization?: string): Promise<LoadedTokenizer> => {
    const name = JSON.stringify([files.tokenizer, files.config, files.chat_template]);
    const failure = failures.get(name);
    if (failure && failure.untilMs > now() && failure.untilMs <= now() + FAILED_MS) throw failure.error;
    const known = places.get(name);
    const tokenizer = known?.tokenizer ?? load(files);
    places.delete(name);
    // Files that a shared model has, too, stay with the shared models.
    places.set(name, { organization: known && known.organization === undefined ? undefined : organization, tokenizer });
    if (!known) tokenizer.catch((error: unknown) => failed(name, tokenizer, error));
    evict(organization);
    return tokenizer;
  };
};

export type Tokenizers = ReturnType<typeof createTokenizers>;
