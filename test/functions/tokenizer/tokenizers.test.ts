import { beforeEach, expect, test } from '@jest/globals';
import { createTokenizers, type Tokenizers } from '../../../functions/tokenizer/tokenizers.ts';
import { texts } from '../../support/tokenizers.ts';

let reads: string[];
let broken: Set<string>;
let tokenizers: Tokenizers;
beforeEach(() => {
  reads = [];
  broken = new Set();
  tokenizers = createTokenizers(async (key) => {
    reads.push(key);
    if (broken.has(key)) throw new Error(`cannot read ${key}`);
    return key.endsWith('.jinja') ? texts.chatTemplate : texts.tokenizer;
  });
});

const filesOf = (name: string) => ({ tokenizer: `${name}.json`, chat_template: `${name}.jinja` });

test('files are read once for concurrent and later calls', async () => {
  const loads = await Promise.all([1, 2, 3].map(() => tokenizers(filesOf('a'))));
  expect(new Set([...loads, await tokenizers(filesOf('a'))]).size).toBe(1);
  expect(reads.sort()).toEqual(['a.jinja', 'a.json']);
});

test('of five tokenizers the four most recently used are cached', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'a', 'e']) await tokenizers(filesOf(name));
  reads.length = 0;
  for (const name of ['a', 'c', 'd', 'e']) await tokenizers(filesOf(name));
  expect(reads).toEqual([]);
  await tokenizers(filesOf('b'));
  expect(reads.sort()).toEqual(['b.jinja', 'b.json']);
});

test('a load that failed is retried by the next call', async () => {
  broken.add('a.jinja');
  await expect(tokenizers(filesOf('a'))).rejects.toThrow('cannot read a.jinja');
  broken.clear();
  expect((await tokenizers(filesOf('a'))).render({ messages: [{ role: 'user', content: 'Hi' }] })).toContain('Hi');
});
