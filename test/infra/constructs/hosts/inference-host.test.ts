import { describe, expect, test } from '@jest/globals';
import { templateOf } from '../../../support/assembly/templates.ts';

describe.each(['serverless', 'ondemand'] as const)('the %s host', (name) => {
  const host = templateOf(name);

  test('streams chat completions for up to 600 s and is regional', () => {
    host.hasResourceProperties('AWS::ApiGateway::RestApi', {
      EndpointConfiguration: { Types: ['REGIONAL'] },
      BinaryMediaTypes: ['*/*'],
    });
    host.hasResourceProperties('AWS::ApiGateway::Method', {
      HttpMethod: 'POST',
      Integration: { ResponseTransferMode: 'STREAM', TimeoutInMillis: 600_000 },
    });
    // Every resource has an ANY method, so that API Gateway itself never answers.
    const of = (type: string) => Object.entries(host.findResources(type));
    const anys = of('AWS::ApiGateway::Method')
      .filter(([, { Properties }]) => Properties.HttpMethod === 'ANY')
      .map(([, { Properties }]) => Properties.ResourceId.Ref);
    for (const [id] of of('AWS::ApiGateway::Resource')) expect(anys).toContain(id);
  });

  test('gives gateway responses our error body, a request id and CORS, and makes 5XX a 503 with retry-after', () => {
    const responses = Object.values(host.findResources('AWS::ApiGateway::GatewayResponse')).map(({ Properties }) => Properties);
    expect(responses.map(({ ResponseType }) => ResponseType).sort()).toEqual(
      [
        'DEFAULT_4XX',
        'DEFAULT_5XX',
        'INTEGRATION_FAILURE',
        'INTEGRATION_TIMEOUT',
        'QUOTA_EXCEEDED',
        'REQUEST_TOO_LARGE',
        'THROTTLED',
        'WAF_FILTERED',
      ].sort(),
    );
    for (const { ResponseType, StatusCode, ResponseParameters, ResponseTemplates } of responses) {
      const text: string = ResponseTemplates['application/json'];
      expect(text).not.toContain('$context.error');
      expect(JSON.parse(text)).toEqual({
        type: 'error',
        error: { message: expect.any(String), type: expect.any(String), param: null, code: expect.any(String) },
        request_id: '$context.extendedRequestId',
      });
      expect(ResponseParameters).toMatchObject({
        'gatewayresponse.header.x-request-id': 'context.extendedRequestId',
        'gatewayresponse.header.access-control-allow-origin': "'*'",
      });
      if (/5XX|INTEGRATION/.test(ResponseType)) expect(StatusCode).toBe('503');
      if (['503', '429'].includes(StatusCode)) expect(ResponseParameters['gatewayresponse.header.retry-after']).toMatch(/^'\d+'$/);
    }
  });

  test('logs every access without bodies, headers or paths', () => {
    const [stage] = Object.values(host.findResources('AWS::ApiGateway::Stage'));
    const format = stage?.Properties.AccessLogSetting.Format;
    expect(format).not.toMatch(/header\b|authorizer|body/i);
    // A path has what callers put into it; the resource that it matched does not.
    expect(format).not.toContain('$context.path');
    expect(JSON.parse(format)).toMatchObject({ resource: '$context.resourcePath' });
    expect(JSON.parse(format)).toMatchObject({
      transfer_mode: '$context.integration.responseTransferMode',
      time_to_all_headers_ms: '$context.integration.timeToAllHeaders',
      time_to_first_content_ms: '$context.integration.timeToFirstContent',
    });
  });

  test('runs functions on Node 24 and arm64, with log retention', () => {
    const functions = Object.values(host.findResources('AWS::Lambda::Function')).map(({ Properties }) => Properties);
    for (const fn of functions)
      expect(fn).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        LoggingConfig: { LogFormat: 'JSON' },
      });
    for (const { Properties } of Object.values(host.findResources('AWS::Logs::LogGroup'))) expect(Properties.RetentionInDays).toBe(30);
  });
});
