import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readExchange, writeExchange } from '../../../shared/payload-log/exchange.ts';

const text = fc.oneof(fc.json(), fc.string({ unit: 'grapheme' }), fc.constantFrom('', '\n', '{"a":"\n"}', 'ä\n€'));

test('reads an exchange as it was written, whatever its texts are', () => {
  fc.assert(
    fc.property(text, text, fc.boolean(), (request, content, stream) => {
      const facts = { organization: 'org_1', keyId: 'key_1', requestId: 'req_1', route: '/v1/responses', receivedAtMs: 1_790_000_000_123 };
      const fields = { known: { fields: { messages: { items: { fields: { content: {} } } } } }, ignored: ['top_k'] };
      const exchange = { ...facts, request, fields, response: { status: 200, stream, isCut: false, content } };
      expect(readExchange(writeExchange(exchange))).toEqual(exchange);
    }),
  );
});
