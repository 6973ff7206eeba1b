import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { chatRequest } from '../../../functions/inference/chat/request.ts';
import { CompletionRequest } from '../../../functions/inference/completions/request.ts';
import { responsesRequest } from '../../../functions/inference/responses/request.ts';
import { DetokenizeRequest, TokenizeRequest } from '../../../functions/inference/tokenize/schema.ts';
import { firstFault } from '../../../shared/http/first-fault.ts';

const issuesOf = (schema: z.ZodType, value: unknown): z.core.$ZodIssue[] => schema.safeParse(value).error?.issues ?? [];

describe('a list that reports its first invalid element', () => {
  const element = z.object({ a: z.string(), b: z.int().default(5) }).transform(({ a, b }) => `${a}${b}`);
  const plain = z.array(element).min(1, 'expected at least one').max(3);
  const list = firstFault(plain);

  test.each([[[{ a: 'x' }]], [[{ a: 'x', b: 1 }, { a: 'y' }]], [[]], [5], [null], [Array(4).fill({ a: 'x' })], [{ length: 1 }]])(
    'accepts and rejects %j with the messages of a plain list',
    (value) => {
      expect([list.safeParse(value).data, issuesOf(list, value)]).toEqual([plain.safeParse(value).data, issuesOf(plain, value)]);
    },
  );

  test('reports the first invalid element, and none after it', () => {
    const wrong = [{ a: 'x' }, { a: 1, b: 'x' }, 7];
    expect(issuesOf(list, wrong)).toEqual(issuesOf(plain, wrong).filter(({ path }) => path[0] === 1));
  });

  test('passes only valid elements to refinements of the whole list', () => {
    const short = firstFault(z.array(z.string().min(1)).max(9)).refine((texts) => texts.every((text) => text.length < 5), 'too long');
    expect(issuesOf(short, ['abc', '', 5, 'abcdef'])).toMatchObject([{ path: [1], code: 'too_small' }]);
    expect(issuesOf(short, ['abcdef', '', 5]).map(({ path, message }) => [path, message])).toEqual([
      [[1], expect.stringContaining('Too small')],
      [[], 'too long'],
    ]);
  });

  test('keeps its messages and its meaning with meta and nullish', () => {
    const described = list.meta({ description: 'Some.' }).nullish();
    expect(described.safeParse(null).data).toBeNull();
    expect(issuesOf(described, [1, 2])).toHaveLength(1);
    expect(z.toJSONSchema(described, { io: 'input' })).toEqual(
      z.toJSONSchema(plain.meta({ description: 'Some.' }).nullish(), { io: 'input' }),
    );
  });
});

// Nested issues count, too: each needs memory.
const count = (issues: readonly z.core.$ZodIssue[]): number =>
  issues.reduce((sum, issue) => {
    const inner = issue.code === 'invalid_union' ? issue.errors.flat() : issue.code === 'invalid_key' ? issue.issues : [];
    return sum + 1 + count(inner as z.core.$ZodIssue[]);
  }, 0);

describe('a body full of invalid values creates only a few issues', () => {
  const many = (of: unknown, times = 4_000): unknown[] => Array(times).fill(of);
  const hi = [{ role: 'user', content: 'Hi' }];
  const schemas = {
    chat: chatRequest,
    completions: CompletionRequest,
    responses: responsesRequest,
    tokenize: TokenizeRequest,
    detokenize: DetokenizeRequest,
  };
  const userMessage = (content: unknown) => ({ role: 'user', content });

  test.each<[keyof typeof schemas, string, object]>([
    ['chat', 'parts', { messages: many(userMessage(many(0)), 60) }],
    ['chat', 'texts', { messages: [userMessage(many({ type: 'text', text: 0 }))] }],
    ['chat', 'messages', { messages: many({ role: 'user' }) }],
    ['chat', 'calls', { messages: many({ role: 'assistant', tool_calls: many({ function: { name: 'x'.repeat(257) } }) }) }],
    ['chat', 'tools', { messages: hi, tools: many(0) }],
    ['chat', 'functions', { messages: hi, functions: many({ name: '' }) }],
    ['chat', 'speculation', { messages: hi, speculation: many('x') }],
    ['chat', 'prediction', { messages: hi, prediction: { content: many(0) } }],
    ['chat', 'stop', { messages: hi, stop: many('') }],
    ['chat', 'bad_words', { messages: hi, bad_words: many('') }],
    ['chat', 'logit_bias', { messages: hi, logit_bias: Object.fromEntries(many(0).map((_, i) => [`x${i}`, 0])) }],
    ['completions', 'stop', { prompt: 'x', stop: many(0) }],
    ['completions', 'stop_token_ids', { prompt: 'x', stop_token_ids: many(-1) }],
    ['completions', 'allowed_token_ids', { prompt: 'x', allowed_token_ids: many('') }],
    ['completions', 'prompt', { prompt: many(-1) }],
    ['responses', 'parts', { input: many(userMessage(many(0)), 60) }],
    ['responses', 'items', { input: many(0) }],
    ['responses', 'results', { input: many({ type: 'function_call_output', call_id: 'a', output: many({ type: 'refusal' }) }, 60) }],
    ['responses', 'thoughts', { input: [{ type: 'reasoning', summary: many(0), content: many(0) }] }],
    ['responses', 'tools', { input: 'x', tools: many({ type: 'function' }) }],
    ['responses', 'include', { input: 'x', include: many('x'.repeat(257)) }],
    ['tokenize', 'parts', { messages: many(userMessage(many(0)), 60) }],
    ['tokenize', 'tools', { messages: hi, tools: many({}) }],
    ['detokenize', 'tokens', { tokens: many('x') }],
  ])('%s: %s', (route, _, body) => {
    const issues = issuesOf(schemas[route], { model: 'm', ...body });
    expect(issues).not.toEqual([]);
    expect(count(issues)).toBeLessThan(20);
  });
});
