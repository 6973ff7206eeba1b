import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createEviction } from '../../../../functions/tokenizer/engine/eviction.ts';
import type { PromptMessage } from '../../../../shared/tokens/prompt.ts';
import { anyMessages } from '../../../support/emulators/tokenizers.ts';

// One letter per message: s, u, a, c (calls t), t (answers c).
const stepsOf = (conversation: string): string[] => {
  const roles = { s: 'system', u: 'user', a: 'assistant', c: 'assistant', t: 'tool' } as const;
  let calls = 0;
  const messages = [...conversation].map((letter): PromptMessage => {
    if (letter === 'c') calls += 1;
    const tool_calls = [{ id: `call${calls}`, type: 'function' as const, function: { name: 'f', arguments: '{}' } }];
    return {
      role: roles[letter as keyof typeof roles],
      content: '',
      ...(letter === 'c' && { tool_calls }),
      ...(letter === 't' && { tool_call_id: `call${calls}` }),
    };
  });
  const eviction = createEviction(messages);
  return Array.from({ length: eviction.steps }, (_, step) =>
    eviction
      .keptAt(step)
      .map((index) => conversation[index])
      .join(''),
  );
};

describe('shortening a conversation', () => {
  test.each([
    ['turn by turn, from the oldest', 'suauau', ['suauau', 'suau', 'su']],
    ['with all answers, calls and results of a turn', 'ucttauau', ['ucttauau', 'uau', 'u']],
    ['and keeps all system messages', 'susasuau', ['susasuau', 'sssuau', 'sssu']],
    ['call by call after the last user message, and keeps the newest', 'uauctcttct', ['uauctcttct', 'uctcttct', 'ucttct', 'uct']],
    ['never to an answer without its user message', 'aauau', ['aauau', 'uau', 'u']],
    ['to its last message if it has no user message', 'sactaa', ['sactaa', 'sctaa', 'saa', 'sa']],
    ['not at all if it has one message', 'u', ['u']],
    ['not at all if it has only system messages', 'sss', ['sss']],
  ])('%s', (_name, conversation, steps) => {
    expect(stepsOf(conversation)).toEqual(steps);
  });

  test('does not separate a call from a late result', () => {
    const call = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{}' } };
    const eviction = createEviction([
      { role: 'user', content: '0' },
      { role: 'assistant', content: '1', tool_calls: [call] },
      { role: 'user', content: '2' },
      { role: 'tool', content: '3', tool_call_id: 'c' },
      { role: 'user', content: '4' },
    ]);
    expect(Array.from({ length: eviction.steps }, (_, step) => eviction.keptAt(step))).toEqual([[0, 1, 2, 3, 4], [4]]);
  });
});

test('follows the rules at every step, and drops more than at the one before', () => {
  fc.assert(
    fc.property(anyMessages, (messages) => {
      const eviction = createEviction(messages);
      const lastUser = messages.findLastIndex(({ role }) => role === 'user');
      let before: number[] | undefined;
      for (let step = 0; step < eviction.steps; step++) {
        const kept = eviction.keptAt(step);
        const isKept = new Set(kept);
        for (const [i, { role }] of messages.entries()) if (role === 'system') expect(isKept).toContain(i);
        if (lastUser >= 0) expect(isKept).toContain(lastUser);
        expect(isKept).toContain(messages.length - 1);
        if (step > 0) {
          const first = kept.map((i) => messages[i]?.role).find((role) => role !== 'system');
          if (lastUser >= 0) expect(first).toBe('user');
          expect(first).not.toBe('tool');
          expect(kept.length).toBeLessThan((before as number[]).length);
          expect(before).toEqual(expect.arrayContaining(kept));
        }
        for (const i of kept) {
          const { role, tool_call_id } = messages[i] as PromptMessage;
          if (role !== 'tool') continue;
          const call = messages.findLastIndex(({ tool_calls }, at) => at < i && tool_calls?.some(({ id }) => id === tool_call_id));
          if (call >= 0) expect(isKept).toContain(call);
        }
        before = kept;
      }
    }),
    { numRuns: 500 },
  );
});
