import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const CORPUS_FOLDER = join(import.meta.dirname, 'corpus');
export const CORPUS_TOKENS_FILE = join(import.meta.dirname, 'corpus-tokens.json');

/** Returns the paragraphs of all `*.txt` files in a folder, in file name order. Blank lines separate paragraphs. */
export const readCorpus = (folder: string): string[] => {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.txt'))
    .sort();
  return files.flatMap((name) => paragraphsOf(readFileSync(join(folder, name), 'utf8')));
};

/** Returns the token ids of each paragraph. To encode the corpus takes 90 ms of CPU, and to read its tokens one. */
export const readCorpusTokens = (): number[][] => JSON.parse(readFileSync(CORPUS_TOKENS_FILE, 'utf8'));

const paragraphsOf = (text: string): string[] =>
  text
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '');
