import * as z from 'zod';

const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
const CERTIFICATE = /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/;
const GLOBAL_CERTIFICATE = /^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/;

interface Throttle {
  requestsPerSecond: number;
  burst: number;
}

const fieldsOf = (throttle: Throttle) => ({
  /**
   * The host's own domain, such as `api.example.com`, so that its URL does not change if its stack is replaced. It
   * needs `certificateArn`.
   */
  domain: z.string().regex(DOMAIN, 'expected a lower-case domain name such as api.example.com').optional(),
  /** The certificate of the domain in AWS Certificate Manager, in the region of the deployment. */
  certificateArn: z.string().regex(CERTIFICATE, 'expected the ARN of a certificate in AWS Certificate Manager').optional(),
  /**
   * Whether to reject requests at the API's own URL (execute-api). Default: yes, if there is a domain. Set false
   * while callers move to the domain.
   */
  onlyDomain: z.boolean().optional(),
  /** Requests per second of all callers together. API Gateway rejects more with a 429. */
  requestsPerSecond: z.int().min(1).max(1_000_000).default(throttle.requestsPerSecond),
  /** Requests at the same moment, of all callers together. */
  burst: z.int().min(1).max(1_000_000).default(throttle.burst),
});

/**
 * CloudFront in front of a host's domain. It caches public GETs for as long as their `cache-control` says, and passes
 * on everything else. The control plane has none, because it limits logins by the callers' addresses, which
 * CloudFront would replace with its own.
 */
const CloudFront = z.strictObject({
  /** The certificate of the host's domain for CloudFront, which must be in us-east-1. */
  certificateArn: z.string().regex(GLOBAL_CERTIFICATE, 'expected the ARN of a certificate in us-east-1'),
});

type Domain = { domain?: string | undefined; certificateArn?: string | undefined; onlyDomain?: boolean | undefined };

const hasBoth = ({ domain, certificateArn }: Domain): boolean => (domain === undefined) === (certificateArn === undefined);
const BOTH = { path: ['certificateArn'], message: 'expected domain and certificateArn together' };
const hasDomainIfOnly = ({ domain, onlyDomain }: Domain): boolean => domain !== undefined || !onlyDomain;
const DOMAIN_IF_ONLY = { path: ['onlyDomain'], message: 'expected a domain' };
const withOnlyDomain = <Host extends Domain>(host: Host) => ({ ...host, onlyDomain: host.onlyDomain ?? host.domain !== undefined });

/**
 * The settings of a host. @param throttle how much of the account's 10,000 requests per second and bursts of 5,000
 * the host can use by default
 */
export const host = (throttle: Throttle) =>
  z.strictObject(fieldsOf(throttle)).refine(hasBoth, BOTH).refine(hasDomainIfOnly, DOMAIN_IF_ONLY).transform(withOnlyDomain).prefault({});

/** The settings of a host that can have CloudFront in front of it. */
export const inferenceHost = (throttle: Throttle) =>
  z
    .strictObject({ ...fieldsOf(throttle), cloudFront: CloudFront.optional() })
    .refine(hasBoth, BOTH)
    .refine(hasDomainIfOnly, DOMAIN_IF_ONLY)
    .refine(({ cloudFront, domain, onlyDomain }) => !cloudFront || (domain !== undefined && onlyDomain !== false), {
      path: ['cloudFront'],
      message: 'expected a domain, and not onlyDomain false: CloudFront must not be bypassed through execute-api',
    })
    .transform(withOnlyDomain)
    .prefault({});
