import { describe, expect, test } from '@jest/globals';
import { splitAffinity } from '../../../../functions/inference/targets/split-affinity.ts';
import { eventOf } from '../../../support/emulators/api-event.ts';

const of = (body: object, { user, userId, org = 'org_1' }: { user?: string; userId?: string; org?: string } = {}) =>
  splitAffinity(org, { user, prompt_cache_isolation_key: (body as { key?: string }).key }, body, eventOf('/v1/chat/completions'), userId);
const system = { role: 'system', content: 'Be short.' };
const user = (content: unknown) => ({ role: 'user', content });
const assistant = { role: 'assistant', content: 'Hello.' };

describe('the affinity of a split', () => {
  test('is the end user, else the cache key, within the organization', () => {
    const body = { key: 'k', messages: [user('Hi')] };
    expect(of(body, { userId: 'u', user: 'other' })).toBe(of({}, { userId: 'u' }));
    expect(of(body, { user: 'u' })).toBe(of({}, { user: 'u' }));
    expect(of(body)).toBe(of({ key: 'k', messages: [user('Bye')] }));
    expect(of(body)).not.toBe(of({}, { user: 'k' }));
    expect(of(body, { org: 'org_2' })).not.toBe(of(body));
  });

  test.each([
    ['a chat', { messages: [system, user('Hi')] }, { messages: [system, user('Hi'), assistant, user('And now?')] }],
    [
      'messages whose markers move',
      { system: 'S', messages: [user([{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }])] },
      { system: [{ type: 'text', text: 'S' }], messages: [user('Hi'), assistant, user('And now?')] },
    ],
    [
      'a response that is not stored',
      { store: false, input: [user('Hi')] },
      { store: false, input: [user('Hi'), assistant, user('More')] },
    ],
  ])('stays the same through %s, and differs for another beginning', (_, first, later) => {
    expect(of(first)).toBe(of(later));
    expect(of(JSON.parse(JSON.stringify(first).replace('Hi', 'Hey')))).not.toBe(of(first));
  });

  test.each([
    { system: { toString: 1 } },
    { instructions: { toString: null } },
    { messages: [user([{ type: 'refusal', text: { toString: 1 } }])] },
  ])('has nothing of a field that other routes read, if it is no text: %j', (fields) => {
    expect(of({ messages: [user('')], ...fields })).toBe(of({ messages: [user('')] }));
  });

  test('is unknown for a response that can be continued by its id', () => {
    for (const body of [{ input: 'Hi' }, { input: 'Hi', store: false, previous_response_id: 'resp_1' }]) expect(of(body)).toBeUndefined();
    expect(of({ input: 'Hi' }, { user: 'u' })).toBeDefined();
  });
});
