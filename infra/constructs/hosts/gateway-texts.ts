import { ResponseType } from 'aws-cdk-lib/aws-apigateway';

// API Gateway's own error responses have the format of interface 2.6. It can't choose them by path, so their types are
// those of the Messages API, whose clients read them.
interface GatewayText {
  type: ResponseType;
  status: number;
  error: { message: string; type: string; code: string };
  retryAfterSeconds?: number;
}

const unavailable = {
  message: "Sluice can't handle this request right now. Try again shortly.",
  type: 'overloaded_error',
  code: 'service_unavailable',
};
const limited = { message: 'Too many requests. Try again shortly.', type: 'rate_limit_error', code: 'rate_limit_exceeded' };

/** Constant texts, because API Gateway's own messages can reveal internals. Lambda's throttling arrives as a 5XX. */
export const gatewayTexts: GatewayText[] = [
  { type: ResponseType.DEFAULT_5XX, status: 503, error: unavailable, retryAfterSeconds: 1 },
  { type: ResponseType.INTEGRATION_FAILURE, status: 503, error: unavailable, retryAfterSeconds: 1 },
  {
    type: ResponseType.INTEGRATION_TIMEOUT,
    status: 503,
    error: {
      ...unavailable,
      message: 'The request took too long. Try again, and use stream: true for long answers.',
      type: 'timeout_error',
      code: 'upstream_timeout',
    },
    retryAfterSeconds: 1,
  },
  { type: ResponseType.THROTTLED, status: 429, error: limited, retryAfterSeconds: 1 },
  { type: ResponseType.QUOTA_EXCEEDED, status: 429, error: limited, retryAfterSeconds: 60 },
  {
    type: ResponseType.REQUEST_TOO_LARGE,
    status: 413,
    error: { message: 'The request body is too large. Send at most 4.5 MB.', type: 'request_too_large', code: 'request_too_large' },
  },
  {
    type: ResponseType.WAF_FILTERED,
    status: 403,
    error: {
      message: 'A firewall rule of this service rejected the request. Ask your administrator.',
      type: 'permission_error',
      code: 'request_filtered',
    },
  },
  {
    type: ResponseType.DEFAULT_4XX,
    status: 400,
    error: {
      message: 'This host cannot process the request. Check its path, headers and body against the API reference at GET /docs.',
      type: 'invalid_request_error',
      code: 'bad_request',
    },
  },
];
