import { describe, expect, test } from '@jest/globals';
import { knownFields } from '../../../../functions/inference/messages/request.ts';
import { openApiDocument } from '../../../../infra/tools/reference/inference-document.ts';
import type { HostScope } from '../../../../shared/hosts/host.ts';
import type { Json } from '../../../support/clients/schemas.ts';

interface Documented {
  paths: Record<string, { post: { responses: Record<string, { $ref: string }> } }>;
  components: {
    responses: Record<
      string,
      { headers: Json; content: { 'application/json': { schema: Json; examples: Record<string, { value: Json }> } } }
    >;
    schemas: Record<string, { properties: Json; required: string[] }>;
  };
}
const documentOf = (host: HostScope) => JSON.parse(JSON.stringify(openApiDocument(host))) as Documented;

describe.each(['serverless', 'on_demand'] as const)('the Messages API of the %s host', (host) => {
  const { paths, components } = documentOf(host);

  test.each([
    ['/v1/messages', ['400', '401', '402', '403', '404', '409', '413', '429', '500', '503']],
    ['/v1/messages/count_tokens', ['400', '401', '403', '404', '413', '429', '500', '503']],
  ])('documents the errors of %s in the shape of that API', (path, statuses) => {
    const { '200': _, ...failures } = paths[path]?.post.responses ?? {};
    expect(failures).toEqual(Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/messages-${status}` }])));
    for (const status of statuses) {
      const reply = components.responses[`messages-${status}`];
      const { schema, examples } = reply?.content['application/json'] ?? {};
      expect(schema).toEqual({ $ref: '#/components/schemas/MessagesError' });
      expect(reply?.headers).toHaveProperty('request-id');
      for (const { value } of Object.values(examples ?? {})) expect(value).toMatchObject({ type: 'error', request_id: expect.any(String) });
    }
  });

  test('documents spent money as a 402, and a reused idempotency key as a 400', () => {
    const typesOf = (status: number) =>
      Object.values(components.responses[`messages-${status}`]?.content['application/json'].examples ?? {}).map(
        ({ value }) => (value.error as { type: string; details: { error_code: string } }).details.error_code,
      );
    expect(new Set(typesOf(402))).toEqual(new Set(['insufficient_quota']));
    expect(typesOf(429)).not.toContain('insufficient_quota');
    expect(typesOf(400)).toContain('idempotency_key_reused');
    expect(components.responses).not.toHaveProperty('messages-422');
  });

  test('documents every known field of a request, and those that it needs', () => {
    expect(Object.keys(components.schemas.MessagesRequest?.properties ?? {}).toSorted()).toEqual([...knownFields].toSorted());
    expect(components.schemas.MessagesRequest?.required.toSorted()).toEqual(['max_tokens', 'messages', 'model']);
    expect(components.schemas.CountTokensRequest?.required.toSorted()).toEqual(['messages', 'model']);
  });
});
