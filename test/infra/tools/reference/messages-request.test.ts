import { describe, expect, test } from '@jest/globals';
import { messagesRequest } from '../../../../functions/inference/messages/request.ts';
import { openApiDocument } from '../../../../infra/tools/reference/inference-document.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { type Json, schemasOf } from '../../../support/clients/schemas.ts';

const document = JSON.parse(JSON.stringify(openApiDocument('serverless'))) as Json;
const user = (content: unknown) => ({ role: 'user', content });
const text = { type: 'text', text: 'Hi' };

const minimal = { model: 'm', max_tokens: 1, messages: [user('Hi')] };
const { faults } = schemasOf(document);
const faultsOf = (body: Json): string[] => faults({ $ref: '#/components/schemas/MessagesRequest' }, { ...minimal, ...body });
const isTaken = (body: Json): boolean => {
  try {
    return validate(messagesRequest, { ...minimal, ...body }) !== undefined;
  } catch {
    return false;
  }
};

describe('the documentation of a request for a message', () => {
  const tool = { name: 'f', input_schema: { type: 'object' } };
  const used = { type: 'tool_use', id: 'a', name: 'f', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'a' };

  test.each<[Json]>([
    [{}],
    [{ system: 'Be brief.', stream: true, temperature: 0, top_p: 1, top_k: 5, stop_sequences: ['x'], metadata: { user_id: 'u' } }],
    [{ system: [text], messages: [user([text]), { role: 'system', content: 'Be brief.' }, { role: 'assistant', content: 'Hi' }] }],
    [{ messages: [user('Hi'), { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.' }, used] }, user([result])] }],
    [{ messages: [user([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }])] }],
    [{ messages: [user([{ type: 'search_result', title: 't', source: 's', content: [text] }])] }],
    [{ tools: [tool, { ...tool, type: 'custom', name: 'g', cache_control: { type: 'ephemeral' } }], tool_choice: { type: 'any' } }],
    [{ thinking: { type: 'enabled', budget_tokens: 1_024 }, output_config: { effort: 'max' } }],
    [
      {
        thinking: { type: 'adaptive', display: 'omitted' },
        output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      },
    ],
    [{ system: null, tools: null, thinking: null, metadata: null, stop_sequences: [], mcp_servers: [], container: null, my_property: 1 }],
  ])('accepts %j, like the route', (body) => {
    expect({ isTaken: isTaken(body), faults: faultsOf(body) }).toEqual({ isTaken: true, faults: [] });
  });

  test.each<[Json]>([
    [{ messages: [] }],
    [{ messages: [user([{ type: 'image', source: { type: 'url', url: 'x' } }])] }],
    [{ messages: [user([{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'x' } }])] }],
    [{ messages: [{ role: 'tool', content: 'x' }] }],
    [{ max_tokens: 0 }],
    [{ max_tokens: null }],
    [{ temperature: 3 }],
    [{ stop_sequences: ['a', 'b', 'c', 'd', 'e'] }],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    [{ tools: [{ ...tool, name: 'no spaces' }] }],
    [{ tool_choice: { type: 'always' } }],
    [{ thinking: { type: 'always' } }],
    [{ output_config: { effort: 'extreme' } }],
    [{ mcp_servers: [{ type: 'url', url: 'x', name: 'a' }] }],
  ])('rejects %j, like the route', (body) => {
    expect({ isTaken: isTaken(body), isFaulty: faultsOf(body).length > 0 }).toEqual({ isTaken: false, isFaulty: true });
  });
});
