import { describe, expect, test } from '@jest/globals';
import { createChatStream } from '../../functions/inference/chat/reply-stream.ts';
import { createChatCompletion } from '../../functions/inference/chat/reply-whole.ts';
import { chatFields } from '../../functions/inference/chat/request.ts';
import { chatCompletions } from '../../functions/inference/chat/route.ts';
import { validate } from '../../shared/http/validate.ts';
import { dialects } from '../../shared/upstream/dialects.ts';
import { model } from '../functions/inference/chat/requests.ts';
import { nestedRows, replyKeys, requestRows } from '../support/clients/chat-interface-rows.ts';

// Fields that the interface does not have. It accepts further ones.
const ADDED = ['models'];

const { schema } = chatCompletions;
const base = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const read = (body: object): unknown => validate(schema, JSON.parse(JSON.stringify({ ...base, ...body })));

describe('interface 2.1', () => {
  test('has the same fields as the schema and as every dialect, besides those that Sluice adds', () => {
    const rows = [...Object.keys(requestRows), ...ADDED].sort();
    expect([...chatFields].sort()).toEqual(rows);
    for (const dialect of Object.values(dialects)) expect(Object.keys(dialect.fields).sort()).toEqual(rows);
  });

  describe.each(Object.entries(requestRows))('%s', (field, { takes, refuses, isNullable, beside }) => {
    test.each(takes.map((value) => [JSON.stringify(value).slice(0, 60), value]))('accepts %s', (_, value) => {
      expect(() => read({ ...beside, [field]: value })).not.toThrow();
    });

    test(isNullable ? 'accepts null and absence' : 'rejects null and absence', () => {
      const withNull = () => read({ ...beside, [field]: null });
      if (isNullable) return expect(withNull).not.toThrow();
      expect(withNull).toThrow(expect.objectContaining({ status: 400, param: field }));
      expect(() => read({ [field]: undefined })).toThrow(expect.objectContaining({ status: 400, param: field }));
    });

    test.each(refuses.map((value) => [JSON.stringify(value).slice(0, 60), value]))(
      'rejects %s with a message that names and explains the field',
      (_, value) => {
        const refused = () => read({ ...beside, [field]: value });
        expect(refused).toThrow(expect.objectContaining({ status: 400, param: expect.stringMatching(new RegExp(`^${field}\\b`)) }));
        expect(refused).toThrow(/: .{10,}\./);
        expect(refused).not.toThrow(/Invalid input\.$/);
      },
    );
  });
});

describe('interface 2.2', () => {
  describe.each(Object.entries(nestedRows))('%s', (_name, { field, takes, refuses, beside }) => {
    test('accepts valid values', () => {
      for (const value of takes) expect(() => read({ ...beside, [field]: value })).not.toThrow();
    });
    test('rejects invalid values and names the field', () => {
      for (const value of refuses)
        expect(() => read({ ...beside, [field]: value })).toThrow(
          expect.objectContaining({ status: 400, param: expect.stringMatching(new RegExp(`^${field}\\b`)) }),
        );
    });
  });

  test('ResponseFormat.type is json_object or text unless an admin has switched on more for the model', () => {
    const json_schema = { name: 'a', schema: { type: 'object' } };
    const request = validate(schema, { ...base, response_format: { type: 'json_schema', json_schema } });
    const refused = expect.objectContaining({ status: 400, param: 'response_format' });
    expect(() => chatCompletions.checkSupport(request, model(), 10)).toThrow(refused);
  });

  test('accepts unknown properties at every level except in response_format', () => {
    const extra = { something: { new: true } };
    const tool = { type: 'function', function: { name: 'f', parameters: {}, ...extra }, ...extra };
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}', ...extra }, ...extra };
    const messages = [{ role: 'assistant', content: [{ type: 'text', text: 'a', ...extra }], tool_calls: [call], ...extra }];
    const options = { stream: true, stream_options: { include_usage: true, ...extra } };
    expect(() => read({ ...extra, messages, tools: [tool], ...options, thinking: { type: 'disabled', ...extra } })).not.toThrow();
    expect(() => read({ response_format: { type: 'text', ...extra } })).toThrow(expect.objectContaining({ param: 'response_format' }));
  });
});

const form = { includeUsage: true, tokenIds: true, isLegacy: false };
const facts = { id: 'chatcmpl-1', created: 1, model: 'm', requestId: 'req_1', organization: 'org_1', mayStore: true };
const chunk = { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] };
const usage = { prompt_tokens: 1, completion_tokens: 1 };

test('interface 2.3: a reply has every key, null for missing values, and usage as the runtime reports it', () => {
  const reply = createChatCompletion(facts, form);
  reply.take([chunk]);
  const whole = reply.whole({ ...usage, prompt_tokens_details: { cached_tokens: 1 } }) as { choices: { message: object }[]; usage: object };
  const [choice] = whole.choices;
  expect(Object.keys(whole)).toEqual(expect.arrayContaining(replyKeys.reply));
  expect(Object.keys(choice ?? {})).toEqual(expect.arrayContaining(replyKeys.choice));
  expect(Object.keys(choice?.message ?? {})).toEqual(expect.arrayContaining(replyKeys.message));
  expect(Object.keys(whole.usage)).toEqual(expect.arrayContaining(replyKeys.usage));
});

test('interface 2.4: every chunk has every key', () => {
  const reply = createChatStream(facts, form);
  const chunks = (reply.take([chunk]) + reply.usage(usage))
    .split('\n\n')
    .filter(Boolean)
    .map((event) => JSON.parse(event.slice('data: '.length)) as { choices: object[] });
  expect(chunks).toHaveLength(4);
  for (const event of chunks) {
    expect(Object.keys(event)).toEqual(expect.arrayContaining(replyKeys.chunk));
    for (const choice of event.choices) expect(Object.keys(choice)).toEqual(expect.arrayContaining(replyKeys.streamChoice));
  }
});
