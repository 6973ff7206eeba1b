import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createAnswerText } from '../../../../../infra/local/model-server/generation/answer-text.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const shown = (parts: readonly (string | Uint8Array)[], stops: readonly string[]): { pieces: string[]; stop: string | null } => {
  const answer = createAnswerText(stops);
  const pieces: string[] = [];
  for (const part of parts) {
    const { text, stop } = answer.push(typeof part === 'string' ? utf8(part) : part);
    pieces.push(text);
    if (stop !== null) return { pieces, stop };
  }
  return { pieces: [...pieces, answer.flush()], stop: null };
};

describe('the text of an answer', () => {
  test('ends before a stop string that spans three tokens', () => {
    expect(shown(['so E', 'N', 'D it'], ['END'])).toEqual({ pieces: ['so ', '', ''], stop: 'END' });
  });

  test('includes text that turns out not to be a stop string', () => {
    expect(shown(['so E', 'N', 'ough'], ['END'])).toEqual({ pieces: ['so ', '', 'ENough', ''], stop: null });
    expect(shown(['so EN'], ['END'])).toEqual({ pieces: ['so ', 'EN'], stop: null });
  });

  test('ends at the stop string that begins first', () => {
    expect(shown(['one two three'], ['three', 'two'])).toEqual({ pieces: ['one '], stop: 'two' });
  });

  test('holds back a character until its last byte arrives', () => {
    const [first, second, third, fourth] = utf8('😀');
    const parts = [first, second, third, fourth].map((byte) => Uint8Array.of(byte ?? 0));
    expect(shown(parts, [])).toEqual({ pieces: ['', '', '', '😀', ''], stop: null });
  });

  test('is the same however the bytes are split, and never contains a stop string', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀') });
    const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 1, maxLength: 4 }), { maxLength: 4 });
    fc.assert(
      fc.property(text, stops, (all, named) => {
        const { pieces, stop } = shown(
          Array.from(utf8(all), (byte) => Uint8Array.of(byte)),
          named,
        );
        const starts = named.map((one) => all.indexOf(one)).filter((at) => at >= 0);
        expect(stop !== null).toBe(starts.length > 0);
        if (stop === null) expect(pieces.join('')).toBe(all);
        else expect(all.startsWith(pieces.join('') + stop)).toBe(true);
        for (const one of named) expect(pieces.join('')).not.toContain(one);
      }),
    );
  });
});
