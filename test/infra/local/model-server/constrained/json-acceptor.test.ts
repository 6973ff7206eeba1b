import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  bytesToClose,
  isJsonComplete,
  JSON_START,
  type JsonState,
  nextJsonState,
} from '../../../../../infra/local/model-server/constrained/json-acceptor.ts';
import { jsonPhase } from '../../../../../infra/local/model-server/constrained/json-phase.ts';
import { createTokenTrie } from '../../../../../infra/local/model-server/constrained/token-trie.ts';
import { createRandom } from '../../../../../infra/local/model-server/sampling/random.ts';
import { anyCharacter } from '../../../../support/any-character.ts';
import { tokenizer } from '../fixtures.ts';

const read = (bytes: Iterable<number>): JsonState | null => {
  let state: JsonState | null = JSON_START;
  for (const byte of bytes) state = state && nextJsonState(state, byte);
  return state;
};

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const accepts = (text: string): boolean => {
  const state = read(utf8(text));
  return state !== null && isJsonComplete(state);
};

const json = fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue({ depthSize: 'small', maxDepth: 5 }), { maxKeys: 5 });

describe('the acceptor', () => {
  test('accepts every JSON object', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(accepts(JSON.stringify(value))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test.each(['{}', '{"a": [1, -0.5e+7, true, false, null, "\\u12aF\\n"]}', '{"a":{"b":[[],{}]}}', '{"é😀":"\\""}'])(
    'accepts %s',
    (text) => {
      expect(accepts(text)).toBe(true);
    },
  );

  test.each([
    '[]',
    '1',
    '{',
    '{}}',
    ' {}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '{"a":01}',
    '{"a":1.}',
    '{"a":.5}',
    '{"a":1e}',
    '{"a":+1}',
    '{"a":tru}',
    '{"a":"\n"}',
    '{"a":"\\x"}',
    '{"a":"\\u12g4"}',
    '{"a":[1,]}',
    '{"a":[}',
    '{"a":  1}',
    '{"a":-}',
  ])('rejects %s', (text) => {
    expect(accepts(text)).toBe(false);
  });

  test.each([[0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff], [0x80], [0xe0, 0x80, 0x80]])(
    'rejects invalid UTF-8: %j',
    (...bytes) => {
      expect(read([...utf8('{"'), ...bytes])).toBeNull();
    },
  );

  test('accepts at most 16 levels of nesting', () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    expect([accepts(nested(16)), accepts(nested(17))]).toEqual([true, false]);
  });

  test('accepts only text that JSON.parse accepts', () => {
    const characters = fc.constantFrom(...'{}[]":,01-.eE+ \\utrfalsn"""{}'.split(''), 'true', '"a":', 'null');
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 14 }), (parts) => {
        const text = `{${parts.join('')}`;
        if (accepts(text)) expect(() => JSON.parse(text)).not.toThrow();
      }),
      { numRuns: 3_000 },
    );
  });

  test('counts the fewest bytes that complete a text: none lowers it by more than one, some byte lowers it', () => {
    fc.assert(
      fc.property(json, fc.nat(), (value, cut) => {
        const bytes = utf8(JSON.stringify(value));
        let state = read(bytes.slice(0, cut % bytes.length));
        for (let left = state ? bytesToClose(state) : 0; state && left > 0; left--) {
          const next = Array.from({ length: 256 }, (_, byte) => nextJsonState(state ?? JSON_START, byte)).filter((after) => after !== null);
          expect(Math.min(...next.map(bytesToClose))).toBe(left - 1);
          state = next.find((after) => bytesToClose(after) === left - 1) ?? null;
        }
        expect(state && isJsonComplete(state)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a JSON phase', () => {
  const trie = createTokenTrie(tokenizer.vocabularySize, tokenizer.tokenBytes);
  const { endOfTurn } = tokenizer.specials;

  /** Writes random allowed tokens. `ended` is false if the tokens run out before the turn ends. */
  const write = (seed: number, maxTokens: number): { text: string; ended: boolean } => {
    const phase = jsonPhase(trie, tokenizer.tokenBytes, endOfTurn);
    const random = createRandom(seed);
    const tokens: number[] = [];
    for (let left = maxTokens; left > 0; left--) {
      const logits = new Float32Array(tokenizer.vocabularySize);
      phase.mask(logits, left);
      const allowed = [...logits.keys()].filter((id) => logits[id] === 0);
      const token = allowed[Math.floor(random() * allowed.length)] ?? -1;
      if (token === endOfTurn) return { text: tokenizer.decode(tokens), ended: true };
      phase.accept(token);
      tokens.push(token);
    }
    return { text: tokenizer.decode(tokens), ended: false };
  };

  test('writes valid JSON and ends the turn within any budget of at least three tokens', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 3, max: 200 }), (seed, maxTokens) => {
        const { text, ended } = write(seed, maxTokens);
        expect(ended).toBe(true);
        expect(typeof JSON.parse(text)).toBe('object');
      }),
      { numRuns: 60 },
    );
  });

  test('writes an empty object with two tokens', () => {
    expect(write(1, 2)).toEqual({ text: '{}', ended: false });
    expect(write(1, 1)).toEqual({ text: '{', ended: false });
  });

  test('ends by itself', () => {
    expect(Math.max(...[1, 2, 3].map((seed) => tokenizer.encodeText(write(seed, 4_000).text).length))).toBeLessThan(300);
  });
});
