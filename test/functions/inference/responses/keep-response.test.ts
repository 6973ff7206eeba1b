import { describe, expect, test } from '@jest/globals';
import { createResponse } from '../../../../functions/inference/responses/reply-whole.ts';
import { facts, keepingIn, stream, usage, whole } from '../../../support/clients/responses-replies.ts';
import { called, read, result } from '../../../support/clients/responses-requests.ts';
import { part, text } from './greeting.ts';

describe('storing', () => {
  test('writes the whole response with its input for the organization, before the last event', async () => {
    const { kept, keeping } = keepingIn();
    const events = await stream([text], { instructions: 'A' }, keeping);
    expect(kept).toEqual([
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
    const { kept, keeping } = keepingIn();
    await whole([text], { input }, keeping);
    expect(kept[0]?.input).toEqual(lean);
    const scored = { type: 'output_text' as const, text: 'Ho', annotations: [], logprobs: [{ token: 'Ho', logprob: -1 }] };
    const reply = createResponse(
      {
        ...read({}),
        before: { items: [{ type: 'message', id: 'msg_2', role: 'assistant', status: 'completed', content: [scored] }], depth: 1 },
      },
      facts,
      keeping,
    );
    reply.take(text);
    await reply.keep(usage);
    expect(kept[1]?.before).toMatchObject([{ id: 'msg_2', status: 'completed', content: [{ type: 'output_text', text: 'Ho' }] }]);
    expect(JSON.stringify(kept[1]?.before)).not.toContain('logprob');
  });

  test('is skipped with store: false', async () => {
    const { kept, keeping } = keepingIn();
    expect(await whole([text], { store: false }, keeping)).toMatchObject({ store: false });
    expect(kept).toEqual([]);
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
    const { keeping } = keepingIn(answer);
    expect(await whole([text], {}, keeping)).toMatchObject({
      status: 'completed',
      store: false,
      output: [{ content: [part('Hello\n"')] }],
    });
    expect((await stream([text], {}, keeping)).at(-1)?.response).toMatchObject({ status: 'completed', store: false });
  });
});
