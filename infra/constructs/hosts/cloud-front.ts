import { CfnOutput, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestHeaderBehavior,
  OriginRequestPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { servicePaths } from '../../../shared/hosts/service-routes.ts';
import { MODELS_PATH } from '../../../shared/models/models-path.ts';
import type { Config } from '../../config/config.ts';

/** The header by which the firewall knows that CloudFront sent a request. */
export const CLOUD_FRONT_HEADER = 'x-sluice-cloudfront';
/** The header with the address of the client that sent a request to CloudFront, or the network of an IPv6 address. */
export const VIEWER_HEADER = 'x-sluice-viewer-address';

type Name = Exclude<keyof Config['hosts'], 'control'>;

/**
 * The name of the secret that CloudFront and the firewall share. A name and not a reference: an export in use could
 * not be removed with the setting.
 * @param number AWS reads a secret only when a resource that refers to it changes, so another value needs another name
 */
export const cloudFrontSecretName = ({ name }: Config, host: string, number: number): string =>
  number === 1 ? `${name}/cloudfront/${host}` : `${name}/cloudfront/${host}/${number}`;

// The longest wait for a packet without a higher quota. Streams send a comment every 15 s.
const MAX_SILENCE = Duration.seconds(120);

// CloudFront would cache these for ten seconds, whatever their headers say.
const UNCACHED_ERRORS = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

const REFERENCE = [servicePaths.document, servicePaths.reference, `${servicePaths.reference}/*`];
// GETs with one response for all callers. The models of the on-demand host depend on the API key.
const CACHED_PATHS: Readonly<Record<Name, readonly string[]>> = {
  serverless: [...REFERENCE, MODELS_PATH, `${MODELS_PATH}/*`],
  ondemand: REFERENCE,
};

// WAF counts each address alone, but an IPv6 caller can choose any address of a network. The /56 counts as one here as
// in `shared/identity/network-of.ts`. CloudFront's runtime lacks newer syntax, such as destructuring.
const viewerCode = `function networkOf(ip) {
  if (ip.indexOf(':') < 0 || ip.indexOf('.') >= 0) return ip;
  var parts = ip.split('::');
  var groups = parts[0] ? parts[0].split(':') : [];
  var last = parts[1] ? parts[1].split(':') : [];
  while (groups.length + last.length < 8) groups.push('0');
  groups = groups.concat(last);
  return groups.slice(0, 3).join(':') + ':' + (parseInt(groups[3], 16) & 0xff00).toString(16) + '::';
}
function handler(event) {
  event.request.headers['${VIEWER_HEADER}'] = { value: networkOf(event.viewer.ip) };
  return event.request;
}`;

interface CloudFrontProps {
  config: Config;
  name: Name;
  domain: string;
  certificateArn: string;
  /** The number of the secret that it shares with the firewall. */
  secret: number;
  /** The target of the domain in API Gateway. */
  origin: string;
}

/**
 * A CloudFront distribution for a host's domain, in front of the same domain in API Gateway. It forwards the name of
 * the host, by which API Gateway finds the API and its certificate, and neither caches nor compresses anything but
 * public GETs.
 */
export class CloudFrontDistribution extends Construct {
  constructor(scope: Construct, id: string, { config, name, domain, certificateArn, secret, origin: originName }: CloudFrontProps) {
    super(scope, id);
    const protection = config.firewall ? this.#protect(config, name, secret) : undefined;
    const origin = new HttpOrigin(originName, {
      protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      readTimeout: MAX_SILENCE,
      ...(protection && { customHeaders: protection.headers }),
    });
    const all: BehaviorOptions = {
      origin,
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      compress: false,
      ...(protection && { functionAssociations: protection.functions }),
    };
    // The policy forwards the host, but neither keys nor queries, so they can't vary what is cached.
    const cached: BehaviorOptions = {
      ...all,
      cachePolicy: CachePolicy.USE_ORIGIN_CACHE_CONTROL_HEADERS,
      originRequestPolicy: protection ? this.#passOnViewer(config, name) : OriginRequestPolicy.HOST_HEADER_ONLY,
    };
    const distribution = new Distribution(this, 'Distribution', {
      domainNames: [domain],
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      httpVersion: HttpVersion.HTTP2_AND_3,
      defaultBehavior: all,
      additionalBehaviors: Object.fromEntries(CACHED_PATHS[name].map((path) => [path, cached])),
      errorResponses: UNCACHED_ERRORS.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    });
    this.#acknowledge(distribution);
    new CfnOutput(scope, `${id}Target`, { value: distribution.domainName, description: `The target of the DNS record of ${domain}.` });
  }

  // Cookies vary what is cached, so the firewall must also limit who sends these requests.
  #passOnViewer(config: Config, name: Name): OriginRequestPolicy {
    return new OriginRequestPolicy(this, 'OriginRequests', {
      // Policies of CloudFront are global, unlike stacks.
      originRequestPolicyName: `${config.name}-${name}-${Stack.of(this).region}`,
      comment: 'Passes on the host, and the address of the caller for the firewall.',
      headerBehavior: OriginRequestHeaderBehavior.allowList('host', VIEWER_HEADER),
    });
  }

  // The firewall of the host needs this to tell callers apart.
  #protect(config: Config, name: Name, number: number) {
    const secret = new Secret(this, number === 1 ? 'Secret' : `Secret${number}`, {
      secretName: cloudFrontSecretName(config, name, number),
      description: 'Sent by CloudFront, so that the firewall of the host accepts no other requests.',
      generateSecretString: { excludePunctuation: true, passwordLength: 40 },
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions::AwsSolutions-SMG4',
      reason: 'Both sides get it with a deployment. It opens nothing: behind it, callers still need API keys.',
    });
    const viewer = new EdgeFunction(this, 'Viewer', {
      // Functions of CloudFront are global, unlike stacks.
      functionName: `${config.name}-${name}-${Stack.of(this).region}`,
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(viewerCode),
      comment: 'Tells the firewall of the host the address of each caller.',
    });
    return {
      headers: { [CLOUD_FRONT_HEADER]: secret.secretValue.unsafeUnwrap() },
      functions: [{ function: viewer, eventType: FunctionEventType.VIEWER_REQUEST }],
    };
  }

  #acknowledge(distribution: Distribution): void {
    const acknowledge = (rule: string, reason: string): void =>
      Validations.of(distribution).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
    acknowledge('CFR1', 'Where callers may be is for the deployer to decide, and depends on no feature of the service.');
    acknowledge('CFR2', 'The firewall is on the stage of the API behind it, where it cannot be bypassed.');
    acknowledge('CFR3', 'API Gateway logs all requests but those for public documents, which need no log.');
  }
}
