import * as z from 'zod';
import { SupportPromise } from '../../shared/tickets/clocks.ts';
import { AdoptedTables } from './adopted-tables.ts';
import { host, inferenceHost } from './host.ts';
import { unavailableIn } from './regions.ts';
import { faultOfConcurrency, faultOfHeldRequests } from './shares.ts';
import { WarmThroughput } from './warm-throughput.ts';

const Concurrency = z.int().min(1).max(100_000);

/**
 * The number of executions that each function has for itself and cannot exceed, so that load on one never starves the
 * others. An execution serves one request at a time.
 */
export const ReservedConcurrency = z.strictObject({
  inference: Concurrency.default(400),
  catalog: Concurrency.default(30),
  metering: Concurrency.default(5),
  rollup: Concurrency.default(10),
  refusals: Concurrency.default(5),
  payloads: Concurrency.default(5),
  tokenizer: Concurrency.default(120),
  control: Concurrency.default(20),
  'sign-in': Concurrency.default(15),
  deployments: Concurrency.default(10),
  billing: Concurrency.default(26),
  notifications: Concurrency.default(10),
  'ondemand-inference': Concurrency.default(200),
  'ondemand-catalog': Concurrency.default(20),
});
export type ReservedConcurrency = z.output<typeof ReservedConcurrency>;

const Provisioned = z.int().min(0).max(100_000).default(0);
// Callers wait for the cold starts of these functions.
const ProvisionedConcurrency = z.strictObject({ inference: Provisioned, 'ondemand-inference': Provisioned });

const FUNCTION = /^arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:[\w-]{1,64}(:[\w$-]{1,128})?$/;
const SECRET = /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]{1,512}-[A-Za-z0-9]{6}$/;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;
const AWS_TRACES = /^https:\/\/xray\.[a-z0-9-]+\.(amazonaws\.com(\.cn)?|amazonaws\.eu)\/v1\/traces$/;
const AWS_METRICS = /^https:\/\/monitoring\.[a-z0-9-]+\.(amazonaws\.com(\.cn)?|amazonaws\.eu)\/v1\/metrics$/;

/** TLS, except for a receiver on the same machine, in a local run. */
const OTLP_URL = z
  .url({ protocol: /^https?$/ })
  .max(500)
  .refine((url) => {
    const { protocol, hostname, username, search, hash } = new URL(url);
    return (protocol === 'https:' || LOOPBACK.test(hostname)) && !username && !search && !hash;
  }, 'expected an https URL without credentials, query and fragment');

/** An endpoint for telemetry, which is AWS's, or has headers that authenticate the sender, or neither. */
const otlpEndpoint = z
  .strictObject({
    /** The URL for spans, such as `https://xray.eu-west-1.amazonaws.com/v1/traces`. */
    traces: OTLP_URL.optional(),
    /** The URL for metrics, such as `https://monitoring.eu-west-1.amazonaws.com/v1/metrics`. */
    metrics: OTLP_URL.optional(),
    /** Whether to sign requests with Signature Version 4, for the service and region in the URL. */
    aws: z.boolean().default(false),
    /**
     * The secret in Secrets Manager with the headers to send, as an object in JSON, such as `{"authorization":"Bearer
     * …"}`.
     */
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

const NAME = /^[a-z][a-z0-9-]{0,19}$/;
const EXPECTED_NAME = 'expected up to 20 lower-case letters, digits and dashes, starting with a letter';

/**
 * All settings of a deployer. They are read from the CDK context key `sluice`, in cdk.json or as
 * `cdk deploy -c sluice='{"alarmEmail":"ops@example.com"}'`.
 */
export const Config = z.strictObject({
  /**
   * The prefix of every stack's name, before the stage. Deployments in the same account need different ones, or
   * different stages.
   */
  name: z.string().regex(NAME, EXPECTED_NAME).default('sluice'),
  /**
   * The stage, such as `dev` or `prod`, if an account has several. It is added to the name: the stacks are then
   * `sluice-dev-data` and so on.
   */
  stage: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,9}$/, 'expected up to 10 lower-case letters and digits, starting with a letter')
    .optional(),
  /** Endpoints and inference components can be invoked if they have this tag with the value `true`. */
  endpointTag: z.string().min(1).max(128).default('sluice'),
  /** The regions whose endpoints can be invoked. Empty: the region of the deployment. */
  endpointRegions: z
    .array(z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/))
    .max(16)
    .default([]),
  /**
   * What each function reserves. Default: `npm run deploy` reserves the default numbers if the account has room for
   * all of them, and nothing if it has not; any other synthesis reserves nothing. Null: all functions share the
   * account's executions (only 10 in new accounts).
   */
  reservedConcurrency: ReservedConcurrency.nullable().optional(),
  /**
   * How many requests of one organization can be in flight at the same time on both hosts together, unless an admin
   * has given it another limit. Default: a quarter of what `inference` reserves, but at most half of
   * `ondemand-inference` and five sixths of `tokenizer`: 100 with the default reservations. Without reservations,
   * `npm run deploy` sets a quarter of the account's executions, at most 100.
   */
  organizationConcurrency: z.int().min(1).max(10_000).optional(),
  /**
   * Whether a new version of `inference` first gets a tenth of the requests, for five minutes, and is rolled back if
   * it breaks the promises of `slo`. A deployment then takes five minutes longer for each inference host. Default:
   * only in the stage `prod`.
   */
  canary: z.boolean().optional(),
  /**
   * How many environments of each function Lambda keeps started. They cost money while they are idle, and are part of
   * what the function reserves.
   */
  provisionedConcurrency: ProvisionedConcurrency.prefault({}),
  /**
   * The domain and the throttle of each host. By default, all hosts together leave a quarter of the account's limits
   * to its other APIs.
   */
  hosts: z
    .strictObject({
      serverless: inferenceHost({ requestsPerSecond: 5_000, burst: 2_500 }),
      ondemand: inferenceHost({ requestsPerSecond: 2_000, burst: 1_000 }),
      control: host({ requestsPerSecond: 500, burst: 250 }),
    })
    .prefault({}),
  /**
   * Whether to set the role with which API Gateway writes logs. An account has one such role per region, so set false
   * if your account already has one: a deployment replaces it.
   */
  gatewayLogRole: z.boolean().default(true),
  /**
   * Whether API Gateway reports metrics for each route. CloudWatch charges for each of them; the alarms and the
   * dashboards don't use them.
   */
  detailedMetrics: z.boolean().default(false),
  /**
   * The URL of the on-demand host, without `/v1` and without a trailing slash. The serverless host sends it to
   * callers whose key is for the on-demand host. You know it after the first deployment. Default: the host's
   * `domain`. Without either, the error does not contain a URL.
   */
  ondemandUrl: z
    .url({ protocol: /^https$/ })
    .refine((url) => !url.endsWith('/'), 'expected no trailing slash')
    .optional(),
  /**
   * Whether to accept `response_format` json_schema as OpenAI defines it, for models whose runtime enforces the
   * schema. Otherwise such a request returns 400, as the interface requires.
   */
  structuredOutputs: z.boolean().default(false),
  /**
   * How the function `inference` calls DynamoDB, SageMaker and Lambda: `direct` with small clients of Sluice's own,
   * `sdk` with the AWS SDK, which takes several times the CPU of a request and starts more slowly; see
   * docs/decisions/0067.
   */
  requestClient: z.enum(['direct', 'sdk']).default('direct'),
  /** What organizations can deploy, and how callers of a sleeping deployment wait. */
  deployments: z
    .strictObject({
      /**
       * Whether a deployment can load a model from the Hugging Face Hub. Its container then has a network, and with
       * it the credentials of a role that reads no weights; see docs/decisions/0032.
       */
      hubModels: z.boolean().default(false),
      /**
       * The ECR repositories with the images of runtimes, in any account, such as AWS's `vllm`. SageMaker can pull no
       * others.
       */
      repositories: z
        .array(z.string().regex(/^[a-z0-9]+([._/-][a-z0-9]+)*$/, 'expected the name of an ECR repository, such as vllm'))
        .min(1)
        .max(20)
        .default(['vllm', 'djl-inference', 'sglang-server']),
      /**
       * Whether SageMaker publishes detailed metrics of deployments' containers, GPUs and hosts. CloudWatch charges
       * $0.50 for each GB of them; see docs/operations.md.
       */
      detailedMetrics: z.boolean().default(false),
      /**
       * How many requests can wait for one deployment that wakes. Each of them occupies an execution of the function
       * for as long as it waits. Default: 50, or `maxHeldRequestsOfOrganization` if that is less.
       */
      maxHeldRequests: z.int().min(0).max(1_000).optional(),
      /**
       * How many requests of one organization can wait for all of its deployments together. Default: a quarter of
       * what `ondemand-inference` reserves, or 50 if it reserves nothing.
       */
      maxHeldRequestsOfOrganization: z.int().min(0).max(10_000).optional(),
    })
    .prefault({}),
  /** What invoices and the export of usage need beyond what admins set in the control plane. */
  billing: z
    .strictObject({
      /**
       * A function that computes the taxes of an invoice; see docs/operations.md. Default: invoices have no tax
       * lines.
       */
      taxFunctionArn: z.string().regex(FUNCTION, 'expected the ARN of a Lambda function').optional(),
      /**
       * The secret in Secrets Manager with the API key of a Stripe account, to which the usage of organizations with
       * a Stripe customer is exported every hour. Default: no export.
       */
      stripeSecretArn: z.string().regex(SECRET, 'expected the full ARN of a secret, with its six random characters').optional(),
    })
    .prefault({}),
  /** How organizations are notified. */
  notifications: z
    .strictObject({
      /**
       * The address from which SES sends e-mail about invoices, budgets and credit. SES must have verified it, or its
       * domain. Default: no e-mail.
       */
      emailFrom: z
        .email()
        .max(254)
        .refine((address) => address === address.toLowerCase(), 'expected lower-case letters')
        .optional(),
      /**
       * Networks, such as `10.1.0.0/16`, to which webhooks are delivered although they are not public. Any owner of
       * an organization can make the function connect to them. Default: public addresses only.
       */
      allowedNetworks: z
        .array(z.union([z.cidrv4(), z.cidrv6()], 'expected a network such as 10.1.0.0/16'))
        .max(20)
        .default([]),
    })
    .prefault({}),
  /** Where spans and metrics of requests are sent, by OpenTelemetry's protocol. Default: nowhere. */
  telemetry: z
    .strictObject({
      otlp: z
        .array(otlpEndpoint)
        .min(1)
        .max(4)
        .refine((endpoints) => {
          const urls = endpoints.flatMap(({ traces, metrics }) => [traces, metrics]).filter((url) => url !== undefined);
          return urls.length === new Set(urls).size;
        }, 'expected each URL once'),
    })
    .optional(),
  /** How the platform's support works. */
  support: z
    .strictObject({
      /**
       * How fast support promises to answer and to resolve, by severity, and when it works. Default: around the
       * clock.
       */
      promise: SupportPromise.prefault({}),
      /**
       * The address that gets an e-mail of each new ticket and of each message of a customer, if
       * `notifications.emailFrom` is set. Default: none.
       */
      email: z.email().max(254).optional(),
      /**
       * Where answers to e-mails about tickets go, such as `support@example.com`. The ticket's id is added to it:
       * `support+tkt_…@example.com`. Default: to the sender.
       */
      replyTo: z.email().max(200).optional(),
      /** Whether `sluice.ticket.*` events are put on EventBridge's default bus, for a bridge to another system. */
      events: z.boolean().default(false),
      /** How many days a closed ticket is kept, with its messages and attachments. Longer than it can be reopened. */
      retentionDays: z.int().min(31).max(3_650).default(730),
    })
    .prefault({}),
  /** Whether anyone can create an account. Otherwise administrators invite users. */
  selfSignUp: z.boolean().default(false),
  /**
   * Copies every entry of the audit log to an S3 bucket with Object Lock, which keeps a copy for so many days. In the
   * mode `governance`, principals with s3:BypassGovernanceRetention can delete it earlier; in the mode `compliance`,
   * nobody can, not even the root user. Default: no copies.
   */
  auditCopies: z
    .strictObject({ days: z.int().min(1).max(36_500), mode: z.enum(['governance', 'compliance']).default('governance') })
    .optional(),
  /**
   * What the inference hosts promise. Alarms go off when misses use up what the promise allows too fast; see
   * docs/operations.md.
   */
  slo: z
    .strictObject({
      /** The percentage of valid requests that are answered. */
      availability: z.number().min(95).max(99.99).default(99.9),
      /** A first token is in time if it comes within so many milliseconds of the request's arrival. */
      firstTokenMs: z.int().min(100).max(280_000).default(5_000),
      /** The percentage of answers whose first token is in time. */
      firstTokenShare: z.number().min(95).max(99.99).default(99),
      /**
       * With fewer misses than this in its longer window, no alarm goes off: a single failure of a host with little
       * traffic says nothing.
       */
      minimumMisses: z.int().min(1).max(100_000).default(10),
    })
    .prefault({}),
  /**
   * A web application firewall before each host: AWS's managed rules, and a limit for each IP address. Bodies of
   * inference requests are not inspected, because prompts look like attacks. Default: none.
   */
  firewall: z
    .strictObject({
      /**
       * Requests of one IP address within five minutes, over which it is blocked. Callers of an office share one
       * address, so this must be far above what they send.
       */
      requestsPerAddress: z.int().min(1_000).max(100_000_000).default(60_000),
    })
    .optional(),
  /**
   * Whether tables, buckets, queues, logs and alarms are encrypted with a key of the account in KMS, which its owner
   * can disable and whose use CloudTrail records. Otherwise they are encrypted with keys that AWS manages, without a
   * cost.
   */
  customerManagedKey: z.boolean().default(false),
  /**
   * An e-mail to `alarmEmail` about the bill of the whole AWS account, not only of Sluice. CloudFormation can't
   * create budgets in every region; see docs/operations.md. Default: none.
   */
  billBudget: z
    .strictObject({
      /**
       * What the account's bill of a month should not exceed, in dollars. An e-mail is sent at 80% of it, and when
       * AWS forecasts more than all of it.
       */
      monthlyUsd: z.int().min(1).max(100_000_000),
    })
    .optional(),
  /**
   * Tables that were restored from backups, by the output of the data stack that has their name. Each is used instead
   * of the stack's own, which stays. docs/data.md describes a restore.
   */
  tables: AdoptedTables.default({}),
  /**
   * The read and write units that tables serve at once, such as `{"keys": {"writesPerSecond": 12000}}` before a
   * launch. A new table serves 12,000 reads and 4,000 writes a second, and twice its highest load after half an hour.
   * AWS charges once for each unit above what the table serves already, and the number can't be lowered again.
   * Default: what DynamoDB gives.
   */
  warmThroughput: WarmThroughput.default({}),
  logRetentionDays: z.union([z.literal(7), z.literal(30), z.literal(90), z.literal(365)]).default(30),
  /**
   * The e-mail address for all alarms. Without it, alarms are only visible in the console, unless you subscribe to
   * their topics.
   */
  alarmEmail: z.email().optional(),
  /**
   * Where your team reads docs/operations.md, such as its page in your fork. The description of each alarm has this
   * URL with the anchor of the alarm's entry. Default: the path in the repository.
   */
  runbookUrl: z
    .url({ protocol: /^https?$/ })
    .max(300)
    .refine((url) => !url.includes('#'), 'expected a URL without a fragment')
    .default('docs/operations.md'),
  /** The deployed commit, which GET /version returns. */
  commit: z.string().max(64).default('unknown'),
});
export type Config = z.output<typeof Config>;

const PRODUCTION_STAGE = 'prod';

const nameOf = (name: string, stage: string | undefined): string => (stage === undefined ? name : `${name}-${stage}`);
const isNameInStage = ({ name, stage }: { name: string; stage?: string | undefined }): boolean => NAME.test(nameOf(name, stage));
const hasReceiver = ({ billBudget, alarmEmail }: { billBudget?: object | undefined; alarmEmail?: string | undefined }): boolean =>
  billBudget === undefined || alarmEmail !== undefined;

const hasAuditStream = ({ auditCopies, tables }: { auditCopies?: object | undefined; tables: Config['tables'] }): boolean =>
  auditCopies === undefined || tables.audit === undefined || tables.audit.streamArn !== undefined;

// A deployer pays for the throughput of an adopted table elsewhere; the stack's own table is not used.
const warmsOwnTables = ({ warmThroughput, tables }: Pick<Config, 'warmThroughput' | 'tables'>): boolean =>
  Object.keys(warmThroughput).every((table) => !Object.hasOwn(tables, table));

const ConsistentConfig = Config.superRefine((config, { addIssue }) => {
  for (const fault of [faultOfConcurrency(config), faultOfHeldRequests(config)]) if (fault) addIssue({ code: 'custom', ...fault });
})
  .refine(isNameInStage, { path: ['stage'], message: `with the name, ${EXPECTED_NAME}` })
  .refine(hasReceiver, { path: ['billBudget'], message: 'expected alarmEmail, which gets the e-mails' })
  .refine(warmsOwnTables, {
    path: ['warmThroughput'],
    message: 'expected no table that is adopted in tables: set its warm throughput yourself',
  })
  .refine(hasAuditStream, { path: ['tables', 'audit'], message: 'expected streamArn, because auditCopies are made from the stream' });

export type TelemetrySettings = NonNullable<Config['telemetry']>;

/**
 * The settings as a deployer wrote them: an object in cdk.json, JSON on the command line, or nothing. @throws
 * SyntaxError if they are not JSON
 */
export const settingsOf = (context: unknown): unknown => (typeof context === 'string' ? JSON.parse(context) : (context ?? {}));

/**
 * Reads and validates the configuration. Its name includes the stage.
 * @param region where it is deployed, if that is known
 * @throws Error that names the invalid fields, and those that need what the region lacks
 */
export const readConfig = (context: unknown, region?: string): Config => {
  const result = ConsistentConfig.superRefine((config, { addIssue }) => {
    for (const setting of region ? unavailableIn(region, config) : []) addIssue({ code: 'custom', ...setting });
  }).safeParse(settingsOf(context));
  if (!result.success)
    throw new Error(`The CDK context 'sluice' is invalid. infra/config/config.ts documents its fields.\n${z.prettifyError(result.error)}`);
  const { name, stage } = result.data;
  return { canary: stage === PRODUCTION_STAGE, ...result.data, name: nameOf(name, stage) };
};
