import { describe, expect, test } from '@jest/globals';
import { answer, ask, model, textOf, tokenizer } from '../fixtures.ts';

describe('an answer', () => {
  test('is deterministic at temperature 0', () => {
    expect(answer({})).toEqual(answer({}));
    expect(answer({ temperature: 1e-6 })).toEqual(answer({ temperature: 0 }));
  });

  test('is deterministic with a seed and differs between seeds', () => {
    const seeded = (seed: number) => answer({ temperature: 1, seed });
    expect(seeded(7)).toEqual(seeded(7));
    expect(new Set([1, 2, 1 + 2 ** 32, 2 ** 60, -1].map((seed) => textOf(seeded(seed)))).size).toBe(5);
  });

  test('varies without a seed', () => {
    expect(new Set(Array.from({ length: 5 }, () => textOf(answer({ temperature: 1 })))).size).toBeGreaterThan(1);
  });

  test('depends on the prompt', () => {
    const prompts = ['What is a weir?', 'How is snow made?', 'Tell me about Anna.', 'What is the capital of Peru?', 'Hello'];
    expect(new Set(prompts.map((prompt) => textOf(answer({ prompt: ask(prompt) })))).size).toBe(prompts.length);
  });

  test('is more often about the topic of the prompt', () => {
    const about = (prompt: string) =>
      Array.from({ length: 40 }, (_, seed) => textOf(answer({ prompt: ask(prompt), temperature: 1, seed }))).filter((text) =>
        text.includes('snow'),
      ).length;
    expect(about('How is snow made?')).toBeGreaterThan(4 * about('Tell me about Anna and the ferry.'));
  });

  test('finishes with `length` at max_tokens and with `stop` when the model ends its turn', () => {
    const cut = answer({ maxTokens: 3 });
    expect(cut).toHaveLength(3);
    expect(cut.at(-1)?.finish).toEqual({ reason: 'length', stopReason: null });
    const whole = answer({ maxTokens: 4_000, temperature: 1, seed: 1 });
    expect(whole.at(-1)).toMatchObject({ token: model.endOfTurn, text: '', finish: { reason: 'stop', stopReason: null } });
  });

  test('stops at a stop string that spans two tokens and omits it', () => {
    const steps = answer({});
    const border = (steps[4]?.text ?? '').slice(-2) + (steps[5]?.text ?? '').slice(0, 2);
    const stopped = answer({ stops: ['no such text', border] });
    const full = textOf(steps);
    expect(textOf(stopped)).toBe(full.slice(0, full.indexOf(border)));
    expect(stopped.at(-1)?.finish).toEqual({ reason: 'stop', stopReason: border });
    expect(stopped.length).toBeLessThan(steps.length);
  });
});

test('an answer that ends with the start of a stop string includes that text', () => {
  const cut = textOf(answer({ maxTokens: 10 }));
  expect(textOf(answer({ maxTokens: 10, stops: [`${cut.slice(-3)}\u0000`] }))).toBe(cut);
});

describe('the logits', () => {
  test('depend only on the arguments and cover the vocabulary', () => {
    const prompt = model.readPrompt(ask('What is a weir?'));
    const first = model.nextLogits(prompt, [300, 301]);
    model.nextLogits(model.readPrompt(ask('Hello')), [5]);
    expect(model.nextLogits(prompt, [300, 301])).toEqual(first);
    expect(first).toHaveLength(tokenizer.vocabularySize);
    expect(first.every(Number.isFinite)).toBe(true);
  });
});
