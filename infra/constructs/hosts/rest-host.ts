import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  CfnBasePathMapping,
  type CfnRestApi,
  EndpointType,
  type IResource,
  LambdaIntegration,
  type LambdaIntegrationOptions,
  LogGroupLogDestination,
  MethodLoggingLevel,
  ResponseTransferMode,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Config } from '../../config/config.ts';
import { Firewall } from './firewall.ts';
import { gatewayTexts } from './gateway-texts.ts';
import { TLS } from './host-domain.ts';

const BUFFERED_TIMEOUT = Duration.seconds(29);
const STREAM_TIMEOUT = Duration.seconds(600);
const STAGE = 'live';

interface RestHostProps {
  config: Config;
  name: keyof Config['hosts'];
  /** Serves all paths and methods without a function of their own. */
  fallback: IFunction;
  /** Why the API has no authorizer: where callers are authenticated instead. */
  authorization: string;
  /** The paths whose requests have prompts, which a firewall must let through. */
  prompts?: readonly string[];
}

/**
 * A public host: a regional REST API. All its error responses have the format of interface 2.6, including those of
 * API Gateway.
 */
export class RestHost extends Construct {
  readonly api: RestApi;
  readonly #domain: string | undefined;
  readonly #fallback: LambdaIntegration;
  readonly #fellBack = new Set<string>();

  constructor(scope: Construct, id: string, { config, name, fallback, authorization, prompts = [] }: RestHostProps) {
    super(scope, id);
    const { domain, onlyDomain, requestsPerSecond, burst } = config.hosts[name];
    this.#domain = domain;
    const accessLogs = new LogGroup(this, 'AccessLogs', {
      retention: config.logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.api = new RestApi(this, 'Api', {
      restApiName: `${config.name}-${name}`,
      endpointTypes: [EndpointType.REGIONAL],
      // Bodies reach the function unchanged, and their maximum size does not depend on their content.
      binaryMediaTypes: ['*/*'],
      disableExecuteApiEndpoint: onlyDomain,
      // The account's role is in the gateway stack.
      cloudWatchRole: false,
      deployOptions: {
        stageName: STAGE,
        throttlingRateLimit: requestsPerSecond,
        throttlingBurstLimit: burst,
        metricsEnabled: config.detailedMetrics,
        tracingEnabled: true,
        // API Gateway would make a log group of its own, which never expires and no key of the account encrypts.
        loggingLevel: MethodLoggingLevel.OFF,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLogs),
        accessLogFormat: AccessLogFormat.custom(
          // Nothing that callers write, such as the user agent: API Gateway inserts values as they are, and a quote
          // would end the text.
          JSON.stringify({
            gateway_request_id: AccessLogField.contextRequestId(),
            extended_request_id: AccessLogField.contextExtendedRequestId(),
            time: AccessLogField.contextRequestTimeEpoch(),
            ip: AccessLogField.contextIdentitySourceIp(),
            method: AccessLogField.contextHttpMethod(),
            // Not the path, which has the ids and whatever else callers put into it.
            resource: AccessLogField.contextResourcePath(),
            status: AccessLogField.contextStatus(),
            response_bytes: AccessLogField.contextResponseLength(),
            latency_ms: AccessLogField.contextResponseLatency(),
            integration_latency_ms: AccessLogField.contextIntegrationLatency(),
            integration_status: AccessLogField.contextIntegrationStatus(),
            error_type: '$context.error.responseType',
            transfer_mode: '$context.integration.responseTransferMode',
            time_to_all_headers_ms: '$context.integration.timeToAllHeaders',
            time_to_first_content_ms: '$context.integration.timeToFirstContent',
          }),
        ),
      },
    });
    Object.assign(this.api.node.defaultChild as CfnRestApi, TLS);
    if (domain) {
      const { restApiId, deploymentStage } = this.api;
      // The domain's name and not a reference to it: an export in use could not be removed together with the setting.
      new CfnBasePathMapping(this, 'DomainMapping', { domainName: domain, restApiId, stage: deploymentStage.stageName });
    }
    this.#fallback = new LambdaIntegration(fallback, { timeout: BUFFERED_TIMEOUT, allowTestInvoke: false });
    this.api.root.addMethod('ANY', this.#fallback);
    this.api.root.addProxy({ anyMethod: true, defaultIntegration: this.#fallback });
    this.#addGatewayResponses();
    this.#acknowledge(authorization);
    if (config.firewall) {
      const { stageArn } = this.api.deploymentStage;
      new Firewall(this, 'Firewall', { config, name, stageArn, prompts });
    } else this.#acknowledgeNoFirewall();
  }

  /**
   * The public URL, without a trailing slash. It contains no reference to the stage, so stacks that use it don't
   * depend on a deployment.
   */
  get url(): string {
    if (this.#domain) return `https://${this.#domain}`;
    const { region, urlSuffix } = Stack.of(this);
    return `https://${this.api.restApiId}.execute-api.${region}.${urlSuffix}/${STAGE}`;
  }

  /** Streams responses to POST on a path from a function. */
  stream(path: string, handler: IFunction): void {
    this.#serve('POST', path, handler, { responseTransferMode: ResponseTransferMode.STREAM, timeout: STREAM_TIMEOUT });
  }

  /** Serves POST on a path with a function of its own. */
  post(path: string, handler: IFunction): void {
    this.#serve('POST', path, handler, { timeout: BUFFERED_TIMEOUT });
  }

  /** Serves GET on a path with a function of its own. */
  get(path: string, handler: IFunction): void {
    this.#serve('GET', path, handler, { timeout: BUFFERED_TIMEOUT });
  }

  /** Serves GET on a path, and on all paths below it, with a function of its own. */
  getBelow(path: string, handler: IFunction): void {
    this.get(path, handler);
    const below = this.api.root.resourceForPath(path).getResource('{proxy+}');
    below?.addMethod('GET', new LambdaIntegration(handler, { timeout: BUFFERED_TIMEOUT, allowTestInvoke: false }));
  }

  /** The fallback still serves other methods, and all paths between this one and the root. */
  #serve(method: 'GET' | 'POST', path: string, handler: IFunction, options: LambdaIntegrationOptions): void {
    const resource = this.api.root.resourceForPath(path);
    resource.addMethod(method, new LambdaIntegration(handler, { ...options, allowTestInvoke: false }));
    for (let at: IResource | undefined = resource; at && at !== this.api.root; at = at.parentResource) this.#fallBack(at);
  }

  // Without a method, API Gateway itself would answer requests to an intermediate resource. It matches paths below a
  // resource only with the resource's own proxy, not with one higher up.
  #fallBack(resource: IResource): void {
    if (this.#fellBack.has(resource.path)) return;
    this.#fellBack.add(resource.path);
    resource.addMethod('ANY', this.#fallback);
    resource.addProxy({ anyMethod: true, defaultIntegration: this.#fallback });
  }

  #addGatewayResponses(): void {
    for (const { type, status, error, retryAfterSeconds } of gatewayTexts) {
      const body = { type: 'error', error: { ...error, param: null }, request_id: '$context.extendedRequestId' };
      this.api.addGatewayResponse(`Gateway${type.responseType}`, {
        type,
        statusCode: String(status),
        responseHeaders: {
          'x-request-id': 'context.extendedRequestId',
          'request-id': 'context.extendedRequestId',
          'access-control-allow-origin': "'*'",
          'access-control-expose-headers': "'x-request-id, request-id, retry-after'",
          'cache-control': "'no-store'",
          ...(retryAfterSeconds && { 'retry-after': `'${retryAfterSeconds}'` }),
        },
        templates: { 'application/json': JSON.stringify(body) },
      });
    }
  }

  #acknowledge(authorization: string): void {
    const acknowledge = (rule: string, reason: string): void =>
      Validations.of(this.api).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
    acknowledge(
      'APIG2',
      'The function validates bodies, and its errors name the field. A request validator could only say that the body is invalid.',
    );
    acknowledge(
      'APIG6',
      'The access log has what an execution log says of errors, and the functions log the rest. Execution logs never expire, and no key of the account encrypts them.',
    );
    acknowledge('APIG4', authorization);
    acknowledge('COG4', authorization);
  }

  #acknowledgeNoFirewall(): void {
    Validations.of(this.api).acknowledge({
      id: 'AwsSolutions::AwsSolutions-APIG3',
      reason: 'A web application firewall has a monthly cost, so it is a setting. Keys and limits are checked for every request.',
    });
  }
}
