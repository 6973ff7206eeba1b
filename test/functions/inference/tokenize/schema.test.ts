import { describe, expect, test } from '@jest/globals';
import {
  DetokenizeReply,
  DetokenizeRequest,
  ignoredOfDetokenize,
  ignoredOfTokenize,
  TokenizeReply,
  TokenizeRequest,
} from '../../../../functions/inference/tokenize/schema.ts';
import { validate } from '../../../../shared/http/validate.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const ofText = (body: object): TokenizeRequest => validate(TokenizeRequest, { model: 'm', ...body });

describe('a request for tokens', () => {
  test('has either a prompt or messages; null counts as absent', () => {
    expect(() => ofText({ prompt: '' })).not.toThrow();
    expect(() => ofText({ prompt: null, messages })).not.toThrow();
    for (const body of [{}, { prompt: null }, { prompt: null, messages: null }, { prompt: '', messages }])
      expect(() => ofText(body)).toThrow(expect.objectContaining({ status: 400, param: 'prompt' }));
  });

  test('accepts null for every optional field', () => {
    const nothing = { add_special_tokens: null, add_generation_prompt: null, return_token_strs: null, tools: null };
    expect(() => ofText({ prompt: 'a', ...nothing })).not.toThrow();
  });

  test.each([
    ['prompt', 1],
    ['messages', 'Hi'],
    ['messages[0].content', [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }]],
    ['messages[1].role', [...messages, { role: 'tool', content: 'a' }]],
    ['tools', 1],
    ['tools[0].function', [{ type: 'function' }]],
    ['add_special_tokens', 1],
    ['add_generation_prompt', 'no'],
    ['return_token_strs', []],
    ['model', ''],
  ])('is rejected with an error for an invalid %s', (param, value) => {
    const [field = ''] = param.split('[');
    const beside = field === 'messages' || field === 'prompt' ? {} : { messages };
    expect(() => ofText({ ...beside, [field]: value })).toThrow(expect.objectContaining({ status: 400, param }));
  });

  test('lists unknown fields and those of the other form as ignored, unless they are null', () => {
    const others = { wombat: { deep: 1 }, nothing: null, add_special_tokens: false, return_token_strs: true };
    const chatOnly = { tools: [], add_generation_prompt: false };
    expect(ignoredOfTokenize(ofText({ prompt: 'a', ...others, ...chatOnly })).sort()).toEqual(['add_generation_prompt', 'tools', 'wombat']);
    expect(ignoredOfTokenize(ofText({ messages, ...others, ...chatOnly }))).toEqual(['wombat']);
  });
});

describe('a request for a text', () => {
  test('reports only its first invalid token, however many there are', () => {
    const ask = (tokens: unknown) => DetokenizeRequest.safeParse({ model: 'm', tokens });
    expect(ask([0, 1, 2 ** 53 - 1]).success).toBe(true);
    expect(ask([]).success).toBe(true);
    for (const wrong of ['a', -1, 0.5, null, 2 ** 53, [1], true])
      expect(ask([1, ...Array(1_000).fill(wrong)]).error?.issues).toEqual([expect.objectContaining({ path: ['tokens', 1] })]);
    expect(ignoredOfDetokenize({ model: 'm', tokens: [], wombat: 1, nothing: null })).toEqual(['wombat']);
  });
});

describe('the replies', () => {
  test('have vLLM’s shapes', () => {
    expect(Object.keys(TokenizeReply.shape)).toEqual(['count', 'max_model_len', 'tokens', 'token_strs']);
    expect(Object.keys(DetokenizeReply.shape)).toEqual(['prompt']);
  });
});
