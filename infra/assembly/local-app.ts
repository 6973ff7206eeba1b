import type { Filter } from './event-filter.ts';
import type { Role } from './interpret-roles.ts';

/** The parts of a cloud assembly that the local run serves. */
export interface LocalApp {
  apis: readonly RestApi[];
  functions: readonly LambdaFunction[];
  tables: readonly Table[];
  buckets: readonly Bucket[];
  queues: readonly Queue[];
  userPools: readonly UserPool[];
  schedules: readonly Schedule[];
  eventRules: readonly EventRule[];
  eventSources: readonly EventSource[];
  queueSources: readonly QueueSource[];
  logSubscriptions: readonly LogSubscription[];
  roles: readonly Role[];
}

export interface LambdaFunction {
  arn: string;
  name: string;
  /** The environment variable SLUICE_FUNCTION; without it, the logical id. */
  shortName: string;
  /** Absolute path of the bundle's folder. */
  folder: string;
  /** `<file without extension>.<export>` */
  handler: string;
  environment: Readonly<Record<string, string>>;
  timeoutMs: number;
  memoryMiB: number;
  /** How many invocations it can have at once; undefined if it reserves nothing. */
  reservedConcurrency?: number | undefined;
  roleArn?: string | undefined;
  /** The name of its log group, if it is in the assembly. */
  logGroup?: string | undefined;
}

export interface RestApi {
  id: string;
  stackName: string;
  stage: string;
  stageVariables: Readonly<Record<string, string>> | null;
  binaryMediaTypes: readonly string[];
  routes: readonly Route[];
  gatewayResponses: ReadonlyMap<string, GatewayResponseTemplate>;
}

export interface Route {
  resourceId: string;
  /** `/v1/things/{id}` */
  resourcePath: string;
  /** An HTTP method, or ANY. */
  method: string;
  functionArn: string;
  transferMode: 'BUFFERED' | 'STREAM';
  timeoutMs: number;
}

export interface GatewayResponseTemplate {
  statusCode: number | undefined;
  /** `gatewayresponse.header.<name>` → quoted text or `context.<property>` */
  parameters: Readonly<Record<string, string>>;
  /** content type → text that can contain `$context.<property>` */
  templates: Readonly<Record<string, string>>;
}

export interface Bucket {
  name: string;
  logicalId: string;
}

export interface Queue {
  arn: string;
  name: string;
  /** On AWS. */
  url: string;
  isFifo: boolean;
  /** How long each message waits before it is delivered. */
  delayMs: number;
  /** Where messages go that were delivered so often without success. */
  failures?: { queueArn: string; maxDeliveries: number };
}

/** A function that gets the messages of a queue. */
export interface QueueSource {
  logicalId: string;
  queueArn: string;
  queueUrl: string;
  isFifo: boolean;
  /** How long each message waits before it is delivered. */
  delayMs: number;
  functionName: string;
  batchSize: number;
  /** Infinity: no limit. */
  maxDeliveries: number;
  /** Queue for messages that exhausted their deliveries; undefined: they are dropped. */
  failureQueueArn: string | undefined;
}

/** A Cognito user pool with email addresses as usernames, and its clients. */
export interface UserPool {
  id: string;
  logicalId: string;
  /** At least one, in the order of the template. */
  clients: readonly [UserPoolClient, ...UserPoolClient[]];
  /** The functions of sign-ins without a password. */
  triggers?: AuthChallengeTriggers;
  /** True if users can set up time-based codes (TOTP) as a second factor. */
  hasTotp: boolean;
  passwords: PasswordPolicy;
}

/** The ARNs of the functions that define, create and verify challenges. */
export interface AuthChallengeTriggers {
  define: string;
  create: string;
  verify: string;
}

export interface UserPoolClient {
  id: string;
  /** The flows that it can start, such as `ALLOW_CUSTOM_AUTH`. */
  authFlows: readonly string[];
  /** If its refresh tokens are rotated: how long one can be used again. */
  rotationGraceSeconds?: number;
  accessTokenSeconds: number;
  idTokenSeconds: number;
  refreshTokenSeconds: number;
}

export interface PasswordPolicy {
  minLength: number;
  requiresLowercase: boolean;
  requiresUppercase: boolean;
  requiresDigits: boolean;
  requiresSymbols: boolean;
  /** How long a temporary password is valid. */
  temporaryValiditySeconds: number;
}

export interface Table {
  name: string;
  logicalId: string;
  properties: TableProperties;
}

interface TableProperties {
  keySchema: readonly KeyElement[];
  attributes: readonly { name: string; type: 'S' | 'N' | 'B' }[];
  indexes: readonly TableIndex[];
  streamViewType: 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES' | 'KEYS_ONLY' | undefined;
  timeToLiveAttribute: string | undefined;
}

export interface KeyElement {
  name: string;
  role: 'HASH' | 'RANGE';
}

interface TableIndex {
  name: string;
  keySchema: readonly KeyElement[];
  projection: 'ALL' | 'KEYS_ONLY' | 'INCLUDE';
  projectedAttributes: readonly string[];
}

export interface Schedule {
  ruleArn: string;
  periodMs: number;
  functionArn: string;
  /** Parsed constant input of the target; undefined: EventBridge's own event. */
  input: unknown;
}

/** A function that gets the matching events of EventBridge's default bus. */
export interface EventRule {
  ruleArn: string;
  matches: Filter;
  functionArn: string;
}

/** A function that gets lines of another function's log. */
export interface LogSubscription {
  logicalId: string;
  logGroup: string;
  /** The short name of the function that writes the log. */
  sourceName: string;
  /** True if the function gets a line. */
  matches: (line: string) => boolean;
  functionArn: string;
  maxRetries: number;
  /** Queue for batches that exhausted their retries; undefined: they are dropped. */
  failureQueueArn: string | undefined;
}

/** A function that reads the stream of a table. */
export interface EventSource {
  logicalId: string;
  /** ARN of the stream. */
  sourceArn: string;
  tableName: string;
  functionName: string;
  batchSize: number;
  /** Maximum batching window. */
  windowMs: number;
  /** A record must match one of them; an empty list matches every record. */
  filters: readonly Filter[];
  /** True if a failed batch is split in two before the retry. */
  bisects: boolean;
  /** Infinity: no limit. */
  maxRetries: number;
  maxAgeMs: number;
  /** Queue for batches that exhausted their retries; undefined: they are dropped. */
  failureQueueArn: string | undefined;
}
