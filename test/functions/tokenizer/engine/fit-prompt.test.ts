import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createEviction } from '../../../../functions/tokenizer/engine/eviction.ts';
import { countPrompt, fitPrompt } from '../../../../functions/tokenizer/engine/fit-prompt.ts';
import { loadTokenizer } from '../../../../functions/tokenizer/engine/loaded-tokenizer.ts';
import type { PromptMessage } from '../../../../shared/tokens/prompt.ts';
import { anyMessages, encodedLength, texts } from '../../../support/emulators/tokenizers.ts';

const tokenizer = loadTokenizer(texts);
const json = JSON.parse(texts.tokenizer);
// Rendered by hand, and counted at once.
const lengthOf = (messages: PromptMessage[]): number => encodedLength(json, tokenizer.render({ messages }));
const pick = (messages: PromptMessage[], kept: number[]): PromptMessage[] => kept.map((index) => messages[index] as PromptMessage);

test('only counts a prompt, exactly, without a limit', () => {
  fc.assert(
    fc.property(anyMessages, (messages) => {
      expect(fitPrompt(tokenizer, { messages }, null)).toEqual({ prompt_tokens: lengthOf(messages), kept: null });
    }),
  );
});

test('returns the length of the kept messages, fits the limit if possible, and drops no more than needed', () => {
  fc.assert(
    fc.property(anyMessages, fc.integer({ min: 1, max: 300 }), (messages, bound) => {
      const { prompt_tokens, kept } = fitPrompt(tokenizer, { messages }, bound);
      const eviction = createEviction(messages);
      const steps = Array.from({ length: eviction.steps }, (_, step) => eviction.keptAt(step));
      const wanted = steps.find((step) => lengthOf(pick(messages, step)) <= bound) ?? steps.at(-1);
      expect(kept).toEqual(wanted);
      expect(prompt_tokens).toBe(lengthOf(pick(messages, kept as number[])));
    }),
    { numRuns: 300 },
  );
});

test('counts a special token of the template as one, and adds none before the rendered prompt', () => {
  const words = encodedLength(json, 'user\nHello.') + encodedLength(json, '\n') + encodedLength(json, 'assistant\n');
  expect(countPrompt(tokenizer, { messages: [{ role: 'user', content: 'Hello.' }] })).toBe(words + 3);
});

test('counts tools and template variables, too', () => {
  const withTools = loadTokenizer({ ...texts, chatTemplate: '{{ tools | tojson }}{{ messages[0].content }}{{ mood }}' });
  const messages: PromptMessage[] = [{ role: 'user', content: 'Hi' }];
  const tools = '[{"type":"function","function":{"name":"look"}}]';
  const rendered = '[{"type": "function", "function": {"name": "look"}}]Hicalm';
  expect(countPrompt(withTools, { messages, tools, variables: { mood: 'calm' } })).toBe(encodedLength(json, rendered));
});

test('truncates a hundred thousand tokens and encodes only the part that stays', () => {
  const story = 'The river carries its boats past the quay, slowly, and the keeper opens the gate. ';
  const messages: PromptMessage[] = Array.from({ length: 201 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `${i} ${story.repeat(26)}`,
  }));
  const whole = countPrompt(tokenizer, { messages });
  expect(whole).toBeGreaterThan(100_000);
  fitPrompt(tokenizer, { messages }, 20_000);
  const before = process.cpuUsage();
  const { prompt_tokens, kept } = fitPrompt(tokenizer, { messages }, 20_000);
  const { user, system } = process.cpuUsage(before);
  expect(prompt_tokens).toBeLessThanOrEqual(20_000);
  expect(prompt_tokens).toBeGreaterThan(17_000);
  expect(kept?.at(-1)).toBe(200);
  expect((user + system) / 1_000).toBeLessThan(5_000);
});
