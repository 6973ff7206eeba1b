import { describe, expect, test } from '@jest/globals';
import type { GatewayResponseTemplate } from '../../../../infra/assembly/local-app.ts';
import { renderGatewayResponse } from '../../../../infra/local/gateway/gateway-response.ts';

const ids = { requestId: 'r-1', extendedRequestId: 'e-1' };
const templates = new Map<string, GatewayResponseTemplate>([
  [
    'REQUEST_TOO_LARGE',
    {
      statusCode: 413,
      parameters: { 'gatewayresponse.header.x-request-id': 'context.extendedRequestId', 'gatewayresponse.header.allow': "'it''s'" },
      templates: { 'application/json': '{"id":"$context.requestId","also":"$context.extendedRequestId"}' },
    },
  ],
  ['DEFAULT_5XX', { statusCode: 503, parameters: {}, templates: { 'text/plain': 'later' } }],
]);

describe('a gateway response', () => {
  test('has the status, headers and body of its template', () => {
    expect(renderGatewayResponse(templates, 'REQUEST_TOO_LARGE', ids)).toEqual({
      statusCode: 413,
      headers: [
        ['Content-Type', 'application/json'],
        ['x-request-id', 'e-1'],
        ['allow', "it''s"],
      ],
      body: '{"id":"r-1","also":"e-1"}',
    });
  });

  test('falls back to the default of its status class', () => {
    expect(renderGatewayResponse(templates, 'INTEGRATION_FAILURE', ids)).toMatchObject({ statusCode: 503, body: 'later' });
  });

  test("is API Gateway's own response without a template", () => {
    expect(renderGatewayResponse(templates, 'MISSING_AUTHENTICATION_TOKEN', ids)).toMatchObject({
      statusCode: 403,
      body: '{"message":"Missing Authentication Token"}',
    });
  });

  test('throws an error for an unsupported expression', () => {
    const leaky = new Map([['DEFAULT_5XX', { statusCode: 500, parameters: {}, templates: { 'text/plain': '$context.error.message' } }]]);
    expect(() => renderGatewayResponse(leaky, 'INTEGRATION_TIMEOUT', ids)).toThrow('error.message');
  });
});
