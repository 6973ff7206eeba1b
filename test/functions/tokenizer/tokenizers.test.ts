import { beforeEach, expect, test } from '@jest/globals';
import { createTokenizers, type Tokenizers } from '../../../functions/tokenizer/tokenizers.ts';
import { texts } from '../../support/emulators/tokenizers.ts';

let reads: string[];
let broken: Set<string>;
let nowMs: number;
let tokenizers: Tokenizers;
beforeEach(() => {
  nowMs = 1_795_262_400_000;
  reads = [];
  broken = new Set();
  tokenizers = createTokenizers(
    async (key) => {
      reads.push(key);
      if (broken.has(key)) throw new Error(`cannot read ${key}`);
      return key.endsWith('.jinja') ? texts.chatTemplate : texts.tokenizer;
    },
    () => nowMs,
  );
});

const filesOf = (name: string) => ({ tokenizer: `${name}.json`, chat_template: `${name}.jinja` });

test('reads files once for concurrent and later calls', async () => {
  const loads = await Promise.all([1, 2, 3].map(() => tokenizers(filesOf('a'))));
  expect(new Set([...loads, await tokenizers(filesOf('a'))]).size).toBe(1);
  expect(reads.sort()).toEqual(['a.jinja', 'a.json']);
});

const missing = async (names: readonly string[], organization?: string): Promise<string[]> => {
  const found: string[] = [];
  for (const name of names) {
    reads.length = 0;
    await tokenizers(filesOf(name), organization);
    if (reads.length > 0) found.push(name);
  }
  return found;
};

test('keeps the five most recently used of six tokenizers', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e', 'a', 'f']) await tokenizers(filesOf(name));
  expect(await missing(['a', 'c', 'd', 'e', 'f'])).toEqual([]);
  expect(await missing(['b'])).toEqual(['b']);
});

test('gives an organization one place for files of its deployments, and evicts nobody else’s', async () => {
  for (const name of ['a', 'b', 'c']) await tokenizers(filesOf(name));
  await tokenizers(filesOf('n'), 'org_neighbour');
  for (let i = 0; i < 20; i++) await tokenizers(filesOf(`own-${i}`), 'org_attacker');
  expect(await missing(['a', 'b', 'c'])).toEqual([]);
  expect(await missing(['n'], 'org_neighbour')).toEqual([]);
  expect(await missing(['own-19', 'own-18'], 'org_attacker')).toEqual(['own-18']);
});

test('gives deployments two places together, and shared models at least three', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) await tokenizers(filesOf(name));
  for (const organization of ['org_1', 'org_2', 'org_3']) await tokenizers(filesOf(organization), organization);
  expect(await missing(['c', 'd', 'e'])).toEqual([]);
  expect(await missing(['org_2'], 'org_2')).toEqual([]);
  expect(await missing(['org_3'], 'org_3')).toEqual([]);
});

test('caches files once that a shared model has, too, among those of shared models', async () => {
  await tokenizers(filesOf('a'));
  expect(await missing(['a'], 'org_1')).toEqual([]);
  await tokenizers(filesOf('b'), 'org_1');
  expect(await missing(['a'])).toEqual([]);
});

test('repeats a load that failed only after five seconds', async () => {
  broken.add('a.jinja');
  const expectFailure = () => expect(tokenizers(filesOf('a'))).rejects.toThrow('cannot read a.jinja');
  await expectFailure();
  reads.length = 0;
  nowMs += 4_999;
  await expectFailure();
  expect(reads).toEqual([]);
  broken.clear();
  nowMs += 1;
  expect((await tokenizers(filesOf('a'))).render({ messages: [{ role: 'user', content: 'Hi' }] })).toContain('Hi');
});

test('forgets a failed load when the clock goes back', async () => {
  broken.add('a.jinja');
  await expect(tokenizers(filesOf('a'))).rejects.toThrow('cannot read a.jinja');
  broken.clear();
  nowMs -= 3_600_000;
  await tokenizers(filesOf('a'));
});
