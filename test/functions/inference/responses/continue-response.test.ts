import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { continueResponse } from '../../../../functions/inference/responses/continue-response.ts';
import { sealText } from '../../../../functions/inference/responses/tools/compaction.ts';
import { ServiceUnavailable } from '../../../../shared/http/errors.ts';
import type { ConversationItem } from '../../../../shared/responses/item.ts';
import { createResponseStore, type StoredResponse } from '../../../../shared/responses/response-store.ts';
import { called, read, result, thought, user } from '../../../support/clients/responses-requests.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { answer, stored } from '../../../support/fixtures/stored-response.ts';

let database: TestDatabase;
const stores = () => createResponseStore(database.database, database.tables.Responses as string, () => 1_700_000_000_000);
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

describe('continuing a response', () => {
  const continued = async (previous: StoredResponse, input: unknown = 'And?', organization = 'org_1') => {
    await stores().put('org_1', previous);
    return continueResponse(stores(), read({ input, previous_response_id: previous.response.id, instructions: 'New.' }), organization);
  };

  test('puts the earlier items before the input, and counts the responses', async () => {
    const previous = stored({ before: [{ type: 'message', role: 'user', content: 'First' }] as ConversationItem[], depth: 4 });
    const request = await continued(previous);
    expect(request.before).toEqual({ items: [...previous.before, ...previous.input, answer], depth: 4 });
    expect(request.body).toMatchObject({ instructions: 'New.', input: [{ content: 'And?' }] });
  });

  test('accepts results only for earlier calls', async () => {
    const previous = stored({}, [{ id: 'fc_1', status: 'completed', ...called('a') }]);
    expect((await continued(previous, [result('a')])).before.items).toHaveLength(2);
    await expect(continued(previous, [user('Hi'), result('b')])).rejects.toMatchObject({ status: 400, param: 'input[1].call_id' });
  });

  test('needs at least one item besides reasoning', async () => {
    const previous = stored({ input: [thought('Why?')] as ConversationItem[] }, [thought('Hm')]);
    const nothing = { status: 400, param: 'input', message: expect.stringContaining('at least one item other than reasoning') };
    await stores().put('org_1', previous);
    const ask = (body: object) => continueResponse(stores(), read({ input: [thought('Hm')], ...body }), 'org_1');
    await expect(ask({ previous_response_id: previous.response.id })).rejects.toMatchObject(nothing);
    expect((await ask({ previous_response_id: previous.response.id, instructions: 'Speak.' })).before.items).toHaveLength(2);
    const { id } = previous.response;
    const thinking = { ...thought('Hm'), id: `rs_${id.slice('resp_'.length)}_0` };
    await stores().put('org_1', { ...previous, response: { ...previous.response, output: [thinking] as never } });
    await expect(ask({ input: [{ type: 'item_reference', id: thinking.id }] })).rejects.toMatchObject(nothing);
  });

  test('begins with the summary of the conversation, after the instructions of the application', async () => {
    const { id } = stored().response;
    const summary = { id: 'cmp_1', type: 'compaction', encrypted_content: sealText('Hm.') };
    const system = { role: 'developer', content: 'Be brief.' } as ConversationItem;
    const input = [system, ...stored().input, { type: 'compaction_trigger' } as ConversationItem];
    const { before } = await continued({ ...stored({ input }, [summary]), response: { id, output: [summary] as never } });
    expect(before.items).toEqual([system, summary]);
  });

  test('has the tools that earlier items loaded, and accepts a choice of them', async () => {
    const loaded = { type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name: 'patch' }] } as ConversationItem;
    const previous = stored({ input: [loaded, ...stored().input] });
    await stores().put('org_1', previous);
    const ask = (name: string) =>
      continueResponse(
        stores(),
        read({ input: 'And?', previous_response_id: previous.response.id, tool_choice: { type: 'custom', name } }),
        'org_1',
      );
    expect((await ask('patch')).names.functions).toEqual([expect.objectContaining({ name: 'patch' })]);
    await expect(ask('other')).rejects.toMatchObject({ status: 400, param: 'tool_choice' });
  });

  test('throws a 404 for a response that does not exist or belongs to another organization', async () => {
    const missing = { status: 404, code: 'previous_response_not_found', param: 'previous_response_id' };
    await expect(continued(stored(), 'And?', 'org_2')).rejects.toMatchObject(missing);
    await expect(continueResponse(stores(), read({ previous_response_id: newId('response') }), 'org_1')).rejects.toMatchObject(missing);
  });

  test('throws a 400 after 100 responses or 4,096 items', async () => {
    expect((await continued(stored({ depth: 99 }))).before.depth).toBe(99);
    await expect(continued(stored({ depth: 100 }))).rejects.toMatchObject({ status: 400, code: 'conversation_too_long' });
    const many = Array.from({ length: 4_095 }, () => user('Hi')) as ConversationItem[];
    await expect(continued(stored({ before: many }))).rejects.toMatchObject({ status: 400, code: 'conversation_too_long' });
  });

  test('throws a 503 while the database is down', async () => {
    const away = { get: () => Promise.reject(new ServiceUnavailable()) };
    await expect(continueResponse(away, read({ previous_response_id: newId('response') }), 'org_1')).rejects.toMatchObject({ status: 503 });
  });
});
