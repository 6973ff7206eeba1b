import { describe, expect, test } from '@jest/globals';
import { createResponse } from '../../../../functions/inference/responses/reply-whole.ts';
import { facts, newStorage, stream, usage, whole } from '../../../support/clients/responses-replies.ts';
import { called, read, result } from '../../../support/clients/responses-requests.ts';
import { part, text } from './greeting.ts';

describe('storing', () => {
  test('writes the whole response with its input for the organization, before the last event', async () => {
    const { stored, storage } = newStorage();
    const events = await stream([text], { instructions: 'A' }, storage);
    expect(stored).toEqual([
      {
        organization: 'org_1',
        depth: 1,
        before: [],
        input: [{ type: 'message', role: 'user', content: 'Hi' }],
        response: events.at(-1)?.response,
      },
    ]);
  });

  test('drops unknown fields of every item, however large', async () => {
    const extra = { extra: Array.from({ length: 1_000 }, () => ({})), status: { deep: [] } };
    const part = { type: 'input_text', text: 'Hi', ...extra };
    const input = [
      { role: 'user', content: [part], ...extra },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        content: [{ type: 'refusal', refusal: 'No', ...extra }],
        ...extra,
        status: 'completed',
      },
      { type: 'reasoning', id: null, summary: [{ type: 'summary_text', text: 'Hm', ...extra }], encrypted_content: 'x', ...extra },
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm', ...extra }], ...extra },
      { ...called('a'), id: 'fc_1', ...extra, status: 'incomplete' },
      { ...result('a', [part]), ...extra },
    ];
    const lean = [
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'refusal', refusal: 'No' }], status: 'completed' },
      { type: 'reasoning', id: null, summary: [{ type: 'summary_text', text: 'Hm' }] },
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] },
      { ...called('a'), id: 'fc_1', status: 'incomplete' },
      result('a', [{ type: 'input_text', text: 'Hi' }]),
    ];
    const { stored, storage } = newStorage();
    await whole([text], { input }, storage);
    expect(stored[0]?.input).toEqual(lean);
    const scored = { type: 'output_text' as const, text: 'Ho', annotations: [], logprobs: [{ token: 'Ho', logprob: -1 }] };
    const reply = createResponse(
      {
        ...read({}),
        before: { items: [{ type: 'message', id: 'msg_2', role: 'assistant', status: 'completed', content: [scored] }], depth: 1 },
      },
      facts,
      storage,
    );
    reply.take(text);
    await reply.store(usage);
    expect(stored[1]?.before).toMatchObject([{ id: 'msg_2', status: 'completed', content: [{ type: 'output_text', text: 'Ho' }] }]);
    expect(JSON.stringify(stored[1]?.before)).not.toContain('logprob');
  });

  test('is skipped with store: false', async () => {
    const { stored, storage } = newStorage();
    expect(await whole([text], { store: false }, storage)).toMatchObject({ store: false });
    expect(stored).toEqual([]);
  });

  test.each([
    ['is too large', () => false],
    [
      'cannot be written',
      (): boolean => {
        throw new Error('no database');
      },
    ],
  ])('does not fail a response that %s, but sets store to false', async (_, answer) => {
    const { storage } = newStorage(answer);
    expect(await whole([text], {}, storage)).toMatchObject({
      status: 'completed',
      store: false,
      output: [{ content: [part('Hello\n"')] }],
    });
    expect((await stream([text], {}, storage)).at(-1)?.response).toMatchObject({ status: 'completed', store: false });
  });
});
