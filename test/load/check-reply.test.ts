import { describe, expect, test } from '@jest/globals';
import type { Exchange } from '../bench/lib/exchange.ts';
import { checkReply } from './check-reply.ts';
import type { Question, RouteName } from './question.ts';

const TOKENS = { prompt: 5, completion: 2 };
const question = (route: RouteName, isStream: boolean): Question => ({
  route,
  isStream,
  seed: 1,
  maxTokens: 2,
  expected: { text: 'The boat', tokens: TOKENS },
});

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const chunk = (id: string, delta: object, finish_reason: string | null = null) => ({
  id,
  choices: [{ delta, finish_reason }],
  usage: null,
});
const stream = (...events: unknown[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const DONE = 'data: [DONE]\n\n';

const chatStream = (id = 'chatcmpl-1', words = ['The', ' boat'], counted = usage): string =>
  stream(...words.map((content) => chunk(id, { content })), chunk(id, {}, 'stop'), { id, choices: [], usage: counted }) + DONE;

const responseOf = (nonce: string) => ({
  id: 'resp_1',
  status: 'completed',
  output: [{ content: [{ text: 'The boat' }] }],
  usage: { input_tokens: 5, output_tokens: 2 },
  metadata: { nonce },
});

const reply = (text: string, change: Partial<Exchange> = {}): Exchange => ({
  status: 200,
  headers: { 'x-request-id': 'req_1' },
  latencyMs: 1,
  firstTokenMs: 1,
  writes: 1,
  text,
  isCut: false,
  ...change,
});

const check = (asked: Question, received: Exchange, refusals: string[] = []) => {
  const { sent, faults } = checkReply({ question: asked, nonce: 'n', keyId: 'key_1', refusals }, received);
  return { ending: sent.ending, kinds: faults.map(({ kind }) => kind) };
};

describe('a stream of a chat', () => {
  const asked = question('chat', true);

  test.each([
    ['that is its own is served', chatStream(), 'served', []],
    ["with another request's text is crossed", chatStream('chatcmpl-1', ['The', ' river']), 'served', ['crossed']],
    ["with a chunk of another request's is crossed", chatStream('chatcmpl-1', ['The', ' boat', ' river']), 'served', ['crossed']],
    ["with another request's id is crossed", chatStream('chatcmpl-2'), 'served', ['crossed']],
    [
      'with another count of tokens is miscounted',
      chatStream('chatcmpl-1', ['The boat'], { ...usage, completion_tokens: 3 }),
      'served',
      ['miscounted'],
    ],
    ['without its end is lost', chatStream().replace(DONE, ''), 'served', ['lost']],
    ['that ends with an error is lost', stream(chunk('chatcmpl-1', { content: 'The' }), { error: { message: 'x' } }), 'lost', ['lost']],
  ])('%s', (_, text, ending, kinds) => {
    expect(check(asked, reply(text))).toEqual({ ending, kinds });
  });

  test('checks a reply whose caller left as far as it came', () => {
    const left = { isCut: true };
    expect(check(asked, reply(stream(chunk('chatcmpl-1', { content: 'The' })), left))).toEqual({ ending: 'cut', kinds: [] });
    expect(check(asked, reply(`${stream(chunk('chatcmpl-1', { content: 'The' }))}data: {"id":`, left))).toEqual({
      ending: 'cut',
      kinds: [],
    });
    expect(check(asked, reply(stream(chunk('chatcmpl-1', { content: 'A' })), left)).kinds).toEqual(['crossed']);
  });

  test('takes a reply with the id of the first request for a repeated one', () => {
    const headers = { 'x-request-id': 'req_2', 'x-sluice-original-request-id': 'req_1' };
    expect(check(asked, reply(chatStream(), { headers }))).toEqual({ ending: 'repeated', kinds: [] });
  });
});

test.each<[RouteName, string]>([
  ['chat', JSON.stringify({ id: 'chatcmpl-1', choices: [{ message: { content: 'The boat' }, finish_reason: 'stop' }], usage })],
  ['completions', JSON.stringify({ id: 'cmpl-1', choices: [{ text: 'The boat', finish_reason: 'stop' }], usage })],
  ['responses', JSON.stringify(responseOf('n'))],
])('a whole reply of %s is compared with its text, id and tokens', (route, text) => {
  const asked = question(route, false);
  expect(check(asked, reply(text))).toEqual({ ending: 'served', kinds: [] });
  expect(check(asked, reply(text.replace('boat', 'river'))).kinds).toEqual(['crossed']);
  expect(check(asked, reply(text, { headers: { 'x-request-id': 'req_2' } })).kinds).toEqual(['crossed']);
  expect(check(asked, reply(text.replace('tokens":2', 'tokens":3'))).kinds).toEqual(['miscounted']);
  expect(check(asked, reply(text.slice(0, -5)))).toEqual({ ending: 'lost', kinds: ['lost'] });
});

test('requires that a response’s stream repeats its nonce, and its last event its text', () => {
  const asked = question('responses', true);
  const text = (nonce: string, delta: string): string =>
    stream({ response: { ...responseOf(nonce), status: 'in_progress' } }, { delta }, { response: responseOf(nonce) });
  expect(check(asked, reply(text('n', 'The boat')))).toEqual({ ending: 'served', kinds: [] });
  expect(check(asked, reply(text('m', 'The boat'))).kinds).toEqual(['crossed']);
  expect(check(asked, reply(text('n', 'The'))).kinds).toEqual(['lost']);
});

test('compares lists of tokens and of models as they are', () => {
  const tokens = { ...question('tokenize', false), expected: { text: '1,2', tokens: { prompt: 0, completion: 0 } } };
  expect(check(tokens, reply('{"count":2,"tokens":[1,2]}'))).toEqual({ ending: 'served', kinds: [] });
  expect(check(tokens, reply('{"count":2,"tokens":[1,3]}')).kinds).toEqual(['crossed']);
  expect(check(question('models', false), reply('The boat'))).toEqual({ ending: 'served', kinds: [] });
  expect(check(question('models', false), reply('[]')).kinds).toEqual(['crossed']);
});

test('takes an error for a refusal if the caller’s limits explain it, and otherwise for a lost reply', () => {
  const limited = reply('{"error":{"message":"Wait.","type":"requests","code":"rate_limit_exceeded"}}', { status: 429 });
  const asked = question('chat', true);
  expect(check(asked, limited, ['rate_limit_exceeded'])).toEqual({ ending: 'refused', kinds: [] });
  expect(check(asked, limited, ['insufficient_quota'])).toEqual({ ending: 'lost', kinds: ['lost'] });
  expect(check(asked, reply('<html>', { status: 503 }), ['rate_limit_exceeded'])).toEqual({ ending: 'lost', kinds: ['lost'] });
});
