import { ResponseType } from 'aws-cdk-lib/aws-apigateway';

/** What API Gateway itself answers, in the words and the body of interface 2.6. */
export interface GatewayText {
  type: ResponseType;
  status: number;
  error: { message: string; type: string; code: string };
  retryAfterSeconds?: number;
}

const unavailable = {
  message: 'The service cannot take this request at the moment. Try again shortly.',
  type: 'server_error',
  code: 'service_unavailable',
};
const limited = { message: 'Too many requests. Try again shortly.', type: 'requests', code: 'rate_limit_exceeded' };

/** Constant texts: what API Gateway would say by itself may name internals. Lambda's throttling arrives as a 5XX. */
export const gatewayTexts: GatewayText[] = [
  { type: ResponseType.DEFAULT_5XX, status: 503, error: unavailable, retryAfterSeconds: 1 },
  { type: ResponseType.INTEGRATION_FAILURE, status: 503, error: unavailable, retryAfterSeconds: 1 },
  {
    type: ResponseType.INTEGRATION_TIMEOUT,
    status: 503,
    error: {
      ...unavailable,
      message: 'The request took too long. Try again; for long answers use stream: true.',
      code: 'upstream_timeout',
    },
    retryAfterSeconds: 1,
  },
  { type: ResponseType.THROTTLED, status: 429, error: limited, retryAfterSeconds: 1 },
  { type: ResponseType.QUOTA_EXCEEDED, status: 429, error: limited, retryAfterSeconds: 60 },
  {
    type: ResponseType.REQUEST_TOO_LARGE,
    status: 413,
    error: { message: 'The request is too large: a body may have up to 4.5 MB.', type: 'invalid_request_error', code: 'request_too_large' },
  },
  {
    type: ResponseType.WAF_FILTERED,
    status: 403,
    error: { message: 'The request was refused by a firewall rule of this service.', type: 'permission_error', code: 'request_filtered' },
  },
  {
    type: ResponseType.DEFAULT_4XX,
    status: 400,
    error: {
      message: 'The request is not valid HTTP for this host. See the API reference.',
      type: 'invalid_request_error',
      code: 'bad_request',
    },
  },
];
