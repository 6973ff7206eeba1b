import type { GatewayResponseTemplate } from '../../assembly/local-app.ts';
import type { RequestIds } from './request-ids.ts';

export type GatewayResponseType = 'MISSING_AUTHENTICATION_TOKEN' | 'REQUEST_TOO_LARGE' | 'INTEGRATION_FAILURE' | 'INTEGRATION_TIMEOUT';

// API Gateway creates these without a function.
interface GatewayResponse {
  statusCode: number;
  headers: readonly (readonly [string, string])[];
  body: string;
}

const DEFAULTS: Readonly<Record<GatewayResponseType, { statusCode: number; message: string }>> = {
  MISSING_AUTHENTICATION_TOKEN: { statusCode: 403, message: 'Missing Authentication Token' },
  REQUEST_TOO_LARGE: { statusCode: 413, message: 'Request Too Long' },
  INTEGRATION_FAILURE: { statusCode: 504, message: 'Internal server error' },
  INTEGRATION_TIMEOUT: { statusCode: 504, message: 'Endpoint request timed out' },
};

/**
 * Renders a gateway response from the API's templates; the fallback is DEFAULT_4XX or DEFAULT_5XX.
 * @throws Error naming an expression other than quoted text, `context.requestId` or `context.extendedRequestId`
 */
export const renderGatewayResponse = (
  templates: ReadonlyMap<string, GatewayResponseTemplate>,
  type: GatewayResponseType,
  ids: RequestIds,
): GatewayResponse => {
  const fallback = DEFAULTS[type];
  const template = templates.get(type) ?? templates.get(fallback.statusCode < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX');
  const [contentType, text] = Object.entries(template?.templates ?? {})[0] ?? [
    'application/json',
    JSON.stringify({ message: fallback.message }),
  ];
  const parameters = Object.entries(template?.parameters ?? {}).map(
    ([name, expression]) => [name.replace(/^gatewayresponse\.header\./, ''), evaluate(expression, ids)] as const,
  );
  return {
    statusCode: template?.statusCode ?? fallback.statusCode,
    headers: [['Content-Type', contentType], ...parameters],
    body: text.replace(/\$context\.([\w.]+)/g, (_match, property: string) => contextProperty(property, ids)),
  };
};

const evaluate = (expression: string, ids: RequestIds): string => {
  const [, constant] = /^'(.*)'$/s.exec(expression) ?? [];
  if (constant !== undefined) return constant;
  return contextProperty(expression.replace(/^context\./, ''), ids);
};

const contextProperty = (name: string, ids: RequestIds): string => {
  if (name === 'requestId') return ids.requestId;
  if (name === 'extendedRequestId') return ids.extendedRequestId;
  throw new Error(`The local run does not support ${name} in a gateway response`);
};
