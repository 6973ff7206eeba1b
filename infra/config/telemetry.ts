import * as z from 'zod';
import { SECRET } from './arns.ts';
import { setting, settings } from './setting.ts';

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;
const AWS_TRACES = /^https:\/\/xray\.[a-z0-9-]+\.(amazonaws\.com(\.cn)?|amazonaws\.eu)\/v1\/traces$/;
const AWS_METRICS = /^https:\/\/monitoring\.[a-z0-9-]+\.(amazonaws\.com(\.cn)?|amazonaws\.eu)\/v1\/metrics$/;

// TLS, except for a receiver on the same machine, in a local run.
const OTLP_URL = z
  .url({ protocol: /^https?$/ })
  .max(500)
  .refine((url) => {
    const { protocol, hostname, username, search, hash } = new URL(url);
    return (protocol === 'https:' || LOOPBACK.test(hostname)) && !username && !search && !hash;
  }, 'expected an https URL without credentials, query and fragment');

// An endpoint is AWS's, or has headers that authenticate the sender, or neither.
const otlpEndpoint = z
  .strictObject({
    traces: OTLP_URL.optional(),
    metrics: OTLP_URL.optional(),
    aws: z.boolean().default(false),
    headersSecretArn: z.string().regex(SECRET, 'expected the full ARN of a secret, with its six random characters').optional(),
  })
  .refine(({ traces, metrics }) => traces !== undefined || metrics !== undefined, 'expected traces, metrics or both')
  .refine(({ aws, headersSecretArn }) => !aws || headersSecretArn === undefined, 'expected aws or headersSecretArn, not both')
  .refine(({ aws, traces }) => !aws || traces === undefined || AWS_TRACES.test(traces), {
    path: ['traces'],
    message: 'expected https://xray.<region>.amazonaws.com/v1/traces',
  })
  .refine(({ aws, metrics }) => !aws || metrics === undefined || AWS_METRICS.test(metrics), {
    path: ['metrics'],
    message: 'expected https://monitoring.<region>.amazonaws.com/v1/metrics',
  });

export const Telemetry = settings(
  {
    description: "Where spans and metrics of requests are sent, in OpenTelemetry's protocol.",
    guide: 'options.md#send-spans-and-metrics',
  },
  z
    .strictObject({
      otlp: setting(
        {
          description:
            'Up to four endpoints. Each has a URL for `traces`, one for `metrics`, or both. `aws: true` signs requests with Signature Version 4, for the service and region in the URL; `headersSecretArn` is the secret in Secrets Manager with the headers to send, as a JSON object, such as `{"authorization":"Bearer …"}`.',
          cost: 'What its queues and its function cost, and what the destination charges.',
          example: { telemetry: { otlp: [{ aws: true, traces: 'https://xray.eu-west-1.amazonaws.com/v1/traces' }] } },
          defaultText: 'nothing is sent',
        },
        z
          .array(otlpEndpoint)
          .min(1)
          .max(4)
          .refine((endpoints) => {
            const urls = endpoints.flatMap(({ traces, metrics }) => [traces, metrics]).filter((url) => url !== undefined);
            return urls.length === new Set(urls).size;
          }, 'expected each URL once'),
      ),
    })
    .optional(),
);
