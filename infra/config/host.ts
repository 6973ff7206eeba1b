import * as z from 'zod';
import { FREE, setting, settings } from './setting.ts';

const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
const CERTIFICATE = /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/;
const GLOBAL_CERTIFICATE = /^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/;

interface Throttle {
  requestsPerSecond: number;
  burst: number;
}

const A_DOMAIN = { domain: 'api.example.com', certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/0f5c9b1e' };
const DOMAIN_GUIDE = 'options.md#give-each-host-a-domain';
const THROTTLE_GUIDE = 'options.md#limit-each-host';

const fieldsOf = (throttle: Throttle) => ({
  domain: setting(
    {
      description:
        "The host's own domain, so that its URL does not change if its stack is replaced. It needs `certificateArn`, and a DNS record that you create.",
      cost: 'Nothing, besides the domain itself.',
      example: { hosts: { serverless: A_DOMAIN } },
      defaultText: 'none: the URL has the id of the API',
      guide: DOMAIN_GUIDE,
    },
    z.string().regex(DOMAIN, 'expected a lower-case domain name such as api.example.com').optional(),
  ),
  certificateArn: setting(
    {
      description: 'The certificate of the domain in AWS Certificate Manager, in the region of the deployment.',
      cost: 'Nothing: public certificates are free.',
      example: { hosts: { serverless: A_DOMAIN } },
      defaultText: 'none',
      guide: DOMAIN_GUIDE,
    },
    z.string().regex(CERTIFICATE, 'expected the ARN of a certificate in AWS Certificate Manager').optional(),
  ),
  onlyDomain: setting(
    {
      description: "Rejects requests at the API's own URL (execute-api). Set it to `false` while callers move to the domain.",
      cost: FREE,
      example: { hosts: { serverless: { ...A_DOMAIN, onlyDomain: false } } },
      defaultText: '`true` if the host has a domain',
      guide: DOMAIN_GUIDE,
    },
    z.boolean().optional(),
  ),
  requestsPerSecond: setting(
    {
      description: 'Requests per second of all callers together. API Gateway rejects more with a 429.',
      cost: FREE,
      example: { hosts: { serverless: { requestsPerSecond: 1_000 } } },
      guide: THROTTLE_GUIDE,
    },
    z.int().min(1).max(1_000_000).default(throttle.requestsPerSecond),
  ),
  burst: setting(
    {
      description: 'Requests at the same moment, of all callers together.',
      cost: FREE,
      example: { hosts: { serverless: { burst: 500 } } },
      guide: THROTTLE_GUIDE,
    },
    z.int().min(1).max(1_000_000).default(throttle.burst),
  ),
});

// The control plane has no CloudFront, because it limits logins by the callers' addresses, which CloudFront would
// replace with its own.
const CloudFront = z.strictObject({
  certificateArn: z.string().regex(GLOBAL_CERTIFICATE, 'expected the ARN of a certificate in us-east-1'),
  secret: z.int().min(1).max(9_999).default(1),
});

type Domain = { domain?: string | undefined; certificateArn?: string | undefined; onlyDomain?: boolean | undefined };

const hasBoth = ({ domain, certificateArn }: Domain): boolean => (domain === undefined) === (certificateArn === undefined);
const BOTH = { path: ['certificateArn'], message: 'expected domain and certificateArn together' };
const hasDomainIfOnly = ({ domain, onlyDomain }: Domain): boolean => domain !== undefined || !onlyDomain;
const DOMAIN_IF_ONLY = { path: ['onlyDomain'], message: 'expected a domain' };
const withOnlyDomain = <Host extends Domain>(host: Host) => ({ ...host, onlyDomain: host.onlyDomain ?? host.domain !== undefined });

// By default, a host can use this part of the account's 10,000 requests per second and bursts of 5,000.
const host = (throttle: Throttle) =>
  z.strictObject(fieldsOf(throttle)).refine(hasBoth, BOTH).refine(hasDomainIfOnly, DOMAIN_IF_ONLY).transform(withOnlyDomain).prefault({});

const inferenceHost = (throttle: Throttle) =>
  z
    .strictObject({
      ...fieldsOf(throttle),
      cloudFront: setting(
        {
          description:
            "CloudFront in front of the host's domain. It caches public GETs and passes on everything else. Its `certificateArn` is a certificate of the same domain in us-east-1; a higher `secret` (1 by default) replaces the one that it sends to the firewall. Not for `control`.",
          cost: 'CloudFront: $1.00 for a million requests and $0.085 for each GB to viewers. With `firewall`, also a secret: $0.40 a month.',
          example: {
            hosts: {
              serverless: {
                ...A_DOMAIN,
                cloudFront: { certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/7d1e2a90' },
              },
            },
          },
          defaultText: 'none',
          guide: 'options.md#put-cloudfront-in-front-of-a-host',
        },
        CloudFront.optional(),
      ),
    })
    .refine(hasBoth, BOTH)
    .refine(hasDomainIfOnly, DOMAIN_IF_ONLY)
    .refine(({ cloudFront, domain, onlyDomain }) => !cloudFront || (domain !== undefined && onlyDomain !== false), {
      path: ['cloudFront'],
      message: 'expected a domain, and not onlyDomain false: CloudFront must not be bypassed through execute-api',
    })
    .transform(withOnlyDomain)
    .prefault({});

export const Hosts = settings(
  {
    description:
      "The domain and the throttle of each host: `serverless`, `ondemand` and `control`. By default, all hosts together leave a quarter of the account's limits to its other APIs.",
  },
  z
    .strictObject({
      serverless: inferenceHost({ requestsPerSecond: 5_000, burst: 2_500 }),
      ondemand: inferenceHost({ requestsPerSecond: 2_000, burst: 1_000 }),
      control: host({ requestsPerSecond: 500, burst: 250 }),
    })
    .prefault({}),
);
