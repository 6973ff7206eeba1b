import { describe, expect, test } from '@jest/globals';
import { toChatPrompt } from '../../../../../functions/inference/chat/to-prompt.ts';
import { toChat } from '../../../../../functions/inference/responses/to-chat.ts';
import { openSealed, SUMMARY_REQUEST, sealText } from '../../../../../functions/inference/responses/tools/compaction.ts';
import { chunkOf, ended, facts, newStorage, stream, whole } from '../../../../support/clients/responses-replies.ts';
import { called, read, refusal, result, user } from '../../../../support/clients/responses-requests.ts';
import { createDefaultModel } from './models.ts';

const trigger = { type: 'compaction_trigger' };
const tool = { type: 'function', name: 'f' };
const input = [user('Hi'), called('a'), result('a'), trigger];
const answer = [chunkOf({ reasoning: 'Hm' }), chunkOf({ content: 'They said ' }), chunkOf({ content: 'hi.' }), ended()];
const item = { id: `cmp_${facts.id.slice('resp_'.length)}_0`, type: 'compaction', encrypted_content: sealText('They said hi.') };

describe('a request for a summary', () => {
  test('asks the model after the whole conversation, without tools', () => {
    const request = read({
      input,
      tools: [tool],
      tool_choice: 'required',
      parallel_tool_calls: true,
      text: { format: { type: 'json_object' } },
    });
    const chat = toChat(request);
    expect(toChatPrompt(chat, createDefaultModel()).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(chat.messages.at(-1)).toEqual({ role: 'user', content: SUMMARY_REQUEST });
    for (const name of ['tools', 'tool_choice', 'parallel_tool_calls', 'response_format']) expect(chat[name]).toBeUndefined();
  });

  test('is answered with exactly one item, whatever the model wrote', async () => {
    const events = await stream([answer], { input });
    expect(events.map(({ type }) => type.slice('response.'.length))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'output_item.done',
      'completed',
    ]);
    expect(events.at(-1)?.response.output).toEqual([item]);
    expect(await whole([answer], { input })).toMatchObject({ status: 'completed', output: [item] });
  });

  test('is incomplete if the summary was cut off', async () => {
    const response = await whole([[chunkOf({ content: 'They' }), ended('length')]], { input });
    expect(response).toMatchObject({ status: 'incomplete', output: [{ type: 'compaction', encrypted_content: sealText('They') }] });
  });

  test('has the reasoning as its summary if the model wrote nothing else', async () => {
    const response = await whole([[chunkOf({ reasoning: 'Hm' }), ended()]], { input, reasoning: { summary: 'auto' } });
    expect(response.output).toMatchObject([{ encrypted_content: sealText('Hm') }]);
  });

  test('is rejected if another item follows, with its place', () => {
    expect(refusal({ input: [user('Hi'), trigger, user('Hi')] })).toMatchObject({ status: 400, param: 'input[1].type' });
    expect(refusal({ input: [trigger] })).toMatchObject({ status: 400, param: 'input' });
  });
});

describe('a summary in the input', () => {
  test.each(['compaction', 'compaction_summary', 'context_compaction'])('is a message for the model, as %s', (type) => {
    const { messages } = toChat(read({ input: [{ ...item, type }, user('More')] }));
    expect(messages).toEqual([
      { role: 'user', content: 'Summary of the conversation so far:\n\nThey said hi.' },
      { role: 'user', content: 'More' },
    ]);
  });

  test('is rejected if another service made it, with what to send instead', () => {
    const { status, param, message } = refusal({ input: [user('Hi'), { type: 'compaction', encrypted_content: 'gAAAAA' }] });
    expect({ status, param }).toEqual({ status: 400, param: 'input[1].encrypted_content' });
    expect(message).toContain('start from the messages');
  });

  test('is stored as it is', async () => {
    const { stored, storage } = newStorage();
    await whole([answer], { input }, storage);
    expect(stored[0]?.response.output).toEqual([item]);
  });
});

describe('sealed text', () => {
  test.each(['', 'Hm', 'é😀\n'])('opens as it was: %j', (text) => {
    expect(openSealed(sealText(text))).toBe(text);
  });

  test.each([[undefined], [null], ['gAAAAAB']])('does not open if another service made it: %j', (sealed) => {
    expect(openSealed(sealed)).toBeUndefined();
  });
});

describe('encrypted reasoning', () => {
  const include = ['reasoning.encrypted_content'];
  const thinking = [chunkOf({ reasoning: 'Hm' }), chunkOf({ content: 'Yes' }), ended()];

  test.each([[undefined], [{ summary: 'auto' }]])('is in a reply that asks for it, and in no other (reasoning: %j)', async (reasoning) => {
    const [thought] = (await whole([thinking], { include, reasoning })).output;
    expect(thought).toMatchObject({ type: 'reasoning', encrypted_content: sealText('Hm') });
    const done = (await stream([thinking], { include, reasoning })).find(({ type }) => type === 'response.output_item.done');
    expect(done?.item).toEqual(thought);
    expect((await whole([thinking], { reasoning })).output[0]).not.toHaveProperty('encrypted_content');
  });

  test('is stored if it is all that there is, and only if it can be read', async () => {
    const replay = async (thought: object) => {
      const { stored, storage } = newStorage();
      await whole([thinking], { input: [user('Hi'), { type: 'reasoning', summary: [], ...thought }] }, storage);
      return stored[0]?.input[1];
    };
    expect(await replay({ encrypted_content: sealText('Hm') })).toHaveProperty('encrypted_content', sealText('Hm'));
    expect(await replay({ encrypted_content: sealText('Hm'), content: [] })).toHaveProperty('encrypted_content', sealText('Hm'));
    expect(await replay({ encrypted_content: 'gAAAAA' })).not.toHaveProperty('encrypted_content');
    const content = [{ type: 'reasoning_text', text: 'Hm' }];
    expect(await replay({ encrypted_content: sealText('Hm'), content })).not.toHaveProperty('encrypted_content');
  });

  test('is read where a client replays nothing else', () => {
    const replay = (encrypted_content: string, summary: object[] = []) =>
      toChat(read({ input: [user('Hi'), { type: 'reasoning', summary, encrypted_content }, { role: 'assistant', content: 'Yes' }] }))
        .messages[1];
    expect(replay(sealText('Hm'))).toMatchObject({ reasoning: 'Hm' });
    expect(replay('gAAAAA', [{ type: 'summary_text', text: 'Short' }])).toMatchObject({ reasoning: 'Short' });
    expect(replay('gAAAAA')).not.toHaveProperty('reasoning');
  });
});
