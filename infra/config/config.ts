import * as z from 'zod';
import { AdoptedTables } from './adopted-tables.ts';
import { BillBudget, Billing, Notifications } from './billing.ts';
import { conflictsOf } from './conflicts.ts';
import { Deployments } from './deployments.ts';
import { explainFaults, type FaultWords } from './explain-faults.ts';
import { Hosts } from './host.ts';
import { Memory } from './memory.ts';
import { unavailableIn } from './regions.ts';
import { FREE, setting, settings } from './setting.ts';
import { faultOfConcurrency, faultOfHeldRequests } from './shares.ts';
import { Slo } from './slo.ts';
import { Support } from './support.ts';
import { Telemetry } from './telemetry.ts';
import { WarmThroughput } from './warm-throughput.ts';

const Concurrency = z.int().min(1).max(100_000);

/**
 * The number of executions that each function has for itself and cannot exceed. An execution serves one request at a
 * time.
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
  'machine-sign-in': Concurrency.default(6),
  'single-sign-on': Concurrency.default(6),
  console: Concurrency.default(8),
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

const NAME = /^[a-z][a-z0-9-]{0,19}$/;
const EXPECTED_NAME = 'expected up to 20 lower-case letters, digits and dashes, starting with a letter';

/** All settings of a deployer, under the CDK context key `sluice`. docs/settings.md is made from them. */
export const Config = z.strictObject({
  name: setting(
    {
      description:
        "The prefix of every stack's name, before the stage. Deployments in the same account need different ones, or different stages.",
      cost: FREE,
      example: { name: 'acme-ai' },
    },
    z.string().regex(NAME, EXPECTED_NAME).default('sluice'),
  ),
  stage: setting(
    {
      description:
        "The stage, such as `dev` or `prod`, if an account has several. It is added to the name: the stacks are then `sluice-dev-data` and so on. It can't be changed later.",
      cost: 'Each stage is billed as a deployment of its own, alarms included.',
      example: { stage: 'prod' },
      defaultText: 'none',
      guide: 'options.md#run-several-stages-in-one-account',
    },
    z
      .string()
      .regex(/^[a-z][a-z0-9]{0,9}$/, 'expected up to 10 lower-case letters and digits, starting with a letter')
      .optional(),
  ),
  endpointTag: setting(
    {
      description: 'Only endpoints and inference components that have this tag with the value `true` can be invoked.',
      cost: FREE,
      example: { endpointTag: 'sluice-dev' },
    },
    z.string().min(1).max(128).default('sluice'),
  ),
  endpointRegions: setting(
    {
      description: 'The regions whose endpoints can be invoked.',
      cost: 'Data transfer between the regions.',
      example: { endpointRegions: ['eu-west-1', 'eu-central-1'] },
      defaultText: '`[]`: the region of the deployment',
    },
    z
      .array(z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'expected a region such as eu-west-1'))
      .max(16)
      .default([]),
  ),
  reservedConcurrency: setting(
    {
      description:
        "How many environments each function reserves for itself and cannot exceed, so that load on one function never starves the others. With `null`, all functions share the account's environments (only 10 in new accounts).",
      cost: FREE,
      example: { reservedConcurrency: { inference: 800, tokenizer: 240 } },
      defaultText:
        '`npm run deploy` reserves the default numbers if the quota of the account suffices for all of them, and otherwise nothing; `npx cdk deploy` reserves nothing',
      guide: 'options.md#reserve-concurrency',
    },
    ReservedConcurrency.nullable().optional(),
  ),
  organizationConcurrency: setting(
    {
      description:
        'How many requests of one organization can be in flight on both hosts together, unless an admin has given it another limit.',
      cost: FREE,
      example: { organizationConcurrency: 60 },
      defaultText:
        "a quarter of what `inference` reserves, but at most half of `ondemand-inference` and five sixths of `tokenizer`: 100. Without reservations, `npm run deploy` sets a quarter of the account's executions, at most 100",
      guide: 'options.md#reserve-concurrency',
    },
    z.int().min(1).max(10_000).optional(),
  ),
  canary: setting(
    {
      description:
        'A new version of `inference` first gets a tenth of the requests, for five minutes, and is rolled back if it breaks the promises of `slo`. A deployment then takes five minutes longer for each inference host.',
      cost: 'Two alarms for each inference host, together $1.20 a month.',
      example: { canary: true },
      defaultText: '`true` in the stage `prod`, otherwise `false`',
      guide: 'upgrades.md#release-gradually',
    },
    z.boolean().optional(),
  ),
  provisionedConcurrency: setting(
    {
      description:
        'How many environments of each function Lambda keeps started. They are included in what the function reserves. Cold starts take a few hundred milliseconds, which few callers of a model notice.',
      cost: '$1.64 a month for each environment, also while it is idle.',
      example: { provisionedConcurrency: { inference: 5 } },
      defaultText: '0 each',
      guide: 'upgrades.md#release-gradually',
    },
    ProvisionedConcurrency.prefault({}),
  ),
  memory: setting(
    {
      description:
        'The memory of each function in MB, and with it its CPU time: 1,769 MB are one core. The default, with which each function was tested, is also its minimum. With more memory, a cold start is faster.',
      cost: 'A million streams of 40 seconds cost $0.52 for each MB of `inference`, and a million short chats $0.03.',
      example: { memory: { inference: 256 } },
      guide: 'cost.md#the-memory-of-inference',
    },
    Memory.prefault({}),
  ),
  hosts: Hosts,
  gatewayLogRole: setting(
    {
      description:
        'Sets the role with which API Gateway writes logs. An account has one such role in each region, and a deployment replaces it: set this to `false` if your account already has one.',
      cost: FREE,
      example: { gatewayLogRole: false },
    },
    z.boolean().default(true),
  ),
  detailedMetrics: setting(
    {
      description: "API Gateway reports metrics for each route. The alarms and the dashboard don't use them.",
      cost: '$0.30 a month for each metric of each route that is called.',
      example: { detailedMetrics: true },
    },
    z.boolean().default(false),
  ),
  ondemandUrl: setting(
    {
      description:
        'The URL of the on-demand host, without `/v1` and without a trailing slash. The serverless host returns it to callers whose key is for the on-demand host. The first deployment prints it, with `/v1`, as `OndemandUrl`.',
      cost: FREE,
      example: { ondemandUrl: 'https://ondemand.example.com' },
      defaultText: "the host's `domain`; without a domain, the error contains no URL",
    },
    z
      .url({ protocol: /^https$/ })
      .refine((url) => !url.endsWith('/'), 'expected no trailing slash')
      .refine((url) => !url.endsWith('/v1'), 'expected no /v1 at the end')
      .optional(),
  ),
  requestClient: setting(
    {
      description:
        "How the function `inference` calls DynamoDB, SageMaker and Lambda: `direct` with Sluice's own small clients, `sdk` with the clients of AWS's SDK ([decision 0067](decisions/0067-the-requested-npm-packages-stay.md)).",
      cost: 'With `sdk`, a request takes several times the CPU, and a cold start is slower.',
      example: { requestClient: 'sdk' },
    },
    z.enum(['direct', 'sdk']).default('direct'),
  ),
  deployments: Deployments,
  billing: Billing,
  notifications: Notifications,
  telemetry: Telemetry,
  support: Support,
  auditCopies: settings(
    {
      description:
        'Copies every entry of the audit log to an S3 bucket with Object Lock, which protects each copy from deletion for the set number of days.',
      guide: 'options.md#keep-a-copy-of-the-audit-log',
    },
    z
      .strictObject({
        days: setting(
          {
            description: 'For how many days a copy can be neither deleted nor replaced.',
            cost: "A PUT for each entry, and the storage, which in the mode `compliance` can't be ended before these days are over.",
            example: { auditCopies: { days: 400 } },
            defaultText: 'no copies',
          },
          z.int().min(1).max(36_500),
        ),
        mode: setting(
          {
            description:
              'In the mode `governance`, principals with `s3:BypassGovernanceRetention` can delete a copy earlier; in the mode `compliance`, nobody can, not even the root user.',
            cost: FREE,
            example: { auditCopies: { days: 400, mode: 'compliance' } },
          },
          z.enum(['governance', 'compliance']).default('governance'),
        ),
      })
      .optional(),
  ),
  slo: Slo,
  firewall: settings(
    {
      description:
        "A web application firewall in front of each host: AWS's managed rules, and a limit for each IP address. `{}` switches it on. Bodies of inference requests are not inspected, because prompts look like attacks.",
      guide: 'options.md#protect-the-hosts-with-a-firewall',
    },
    z
      .strictObject({
        requestsPerAddress: setting(
          {
            description:
              'An IP address is blocked if it sends more requests than this in five minutes. All callers in an office share one address, so this must be far above what they send.',
            cost: '$15.00 a month for the firewalls of three hosts and $12.00 for their rules; $0.60 for a million requests.',
            example: { firewall: { requestsPerAddress: 200_000 } },
            defaultText: '60,000, if `firewall` is set',
          },
          z.int().min(1_000).max(100_000_000).default(60_000),
        ),
        onlyCloudFront: setting(
          {
            description:
              'Behind CloudFront, blocks requests that it has not sent. Set it to `false` while you add CloudFront to a host, remove it or replace its secret, or else callers are blocked meanwhile.',
            cost: FREE,
            example: { firewall: { onlyCloudFront: false } },
            defaultText: '`true`, if `firewall` is set',
            guide: 'options.md#protect-the-hosts-with-a-firewall',
          },
          z.boolean().default(true),
        ),
      })
      .optional(),
  ),
  customerManagedKey: setting(
    {
      description:
        'Encrypts tables, buckets, queues, logs and alarms with a key of the account in KMS, which its owner can disable and whose use CloudTrail records. Otherwise AWS manages the keys.',
      cost: '$1.00 a month, and $0.03 for 10,000 uses of the key.',
      example: { customerManagedKey: true },
      guide: 'options.md#encrypt-with-your-own-key',
    },
    z.boolean().default(false),
  ),
  billBudget: BillBudget,
  tables: setting(
    {
      description:
        "Tables that were restored from backups, under the names of the data stack's tables in lower case. Each is used instead of the stack's own table, which is kept. A table with a stream also needs `streamArn`.",
      cost: 'The storage of both tables.',
      example: { tables: { responses: { name: 'sluice-responses-2' } } },
      guide: 'data.md#restore',
    },
    AdoptedTables.default({}),
  ),
  warmThroughput: setting(
    {
      description:
        "The read and write units a second that tables can serve immediately, for a launch. A new table serves 12,000 reads and 4,000 writes a second; DynamoDB doubles that within half an hour as the load grows. The number can't be lowered again.",
      cost: 'Once, $0.00065 for each write and $0.00013 for each read a second above what the table serves already; nothing a month.',
      example: { warmThroughput: { keys: { writesPerSecond: 12_000 } } },
      defaultText: '`{}`: what DynamoDB gives',
      guide: 'options.md#prepare-the-tables-for-a-launch',
    },
    WarmThroughput.default({}),
  ),
  logRetentionDays: setting(
    {
      description: 'How many days the logs of functions and hosts are kept.',
      cost: '$0.03 a month for each GB of log lines.',
      example: { logRetentionDays: 90 },
    },
    z.union([z.literal(7), z.literal(30), z.literal(90), z.literal(365)]).default(30),
  ),
  alarmEmail: setting(
    {
      description:
        'The email address for all alarms. Without it, alarms are only visible in the AWS console, unless you subscribe to their topics.',
      cost: 'Nothing for the first 1,000 emails a month.',
      example: { alarmEmail: 'ops@example.com' },
      defaultText: 'none',
      guide: 'runbook.md#alarms',
    },
    z.email().optional(),
  ),
  runbookUrl: setting(
    {
      description:
        "Where your team reads docs/runbook.md, such as its page in your fork. The description of each alarm has this URL with the anchor of the alarm's entry.",
      cost: FREE,
      example: { runbookUrl: 'https://github.com/acme/sluice/blob/main/docs/runbook.md' },
      guide: 'runbook.md#alarms',
    },
    z
      .url({ protocol: /^https?$/ })
      .max(300)
      .refine((url) => !url.includes('#'), 'expected a URL without a fragment')
      .default('docs/runbook.md'),
  ),
  commit: setting(
    {
      description: 'The deployed commit or tag, which `GET /version` returns.',
      cost: FREE,
      example: { commit: 'v0.1.0' },
      guide: 'upgrades.md',
    },
    z.string().max(64).default('unknown'),
  ),
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
  for (const fault of [faultOfConcurrency(config), faultOfHeldRequests(config), ...conflictsOf(config)])
    if (fault) addIssue({ code: 'custom', ...fault });
})
  .refine(isNameInStage, { path: ['stage'], message: `with the name, ${EXPECTED_NAME}` })
  .refine(hasReceiver, { path: ['billBudget'], message: 'expected alarmEmail, which gets the emails' })
  .refine(warmsOwnTables, {
    path: ['warmThroughput'],
    message: 'expected no table that is adopted in tables: set its warm throughput yourself',
  })
  .refine(hasAuditStream, { path: ['tables', 'audit'], message: 'expected streamArn, because auditCopies are made from the stream' });

export type TelemetrySettings = NonNullable<Config['telemetry']>;

/**
 * The settings as a deployer wrote them: an object in cdk.json, JSON on the command line, or nothing.
 * @throws SyntaxError if they are not JSON
 */
export const settingsOf = (context: unknown): unknown => (typeof context === 'string' ? JSON.parse(context) : (context ?? {}));

/** Settings that can't be used. The message has a sentence for each fault, and is all that a deployer needs to see. */
export class InvalidConfig extends Error {
  constructor(faults: readonly string[]) {
    super(`Invalid settings in the CDK context 'sluice': ${faults.length === 1 ? faults[0] : ['', ...faults].join('\n- ')}`);
    this.name = 'InvalidConfig';
  }
}

const parsedSettings = (context: unknown): unknown => {
  try {
    return settingsOf(context);
  } catch (error) {
    throw new InvalidConfig([`They are not JSON: ${error instanceof Error ? error.message : error}.`]);
  }
};

const WORDS: FaultWords = {
  field: 'setting',
  whole: 'The settings',
  removed: {
    selfSignUp: 'It let strangers into the user pool, where they could not log in. Invite users instead (docs/control-plane.md).',
    structuredOutputs: 'Set capabilities.structured_outputs of each model instead (docs/publish-models.md).',
  },
};

/**
 * Reads and validates the configuration. Its name includes the stage.
 * @param region where it is deployed, if that is known
 * @throws InvalidConfig that names the invalid settings, and those that need what the region lacks
 */
export const readConfig = (context: unknown, region?: string): Config => {
  const settings = parsedSettings(context);
  const result = ConsistentConfig.superRefine((config, { addIssue }) => {
    for (const setting of region ? unavailableIn(region, config) : []) addIssue({ code: 'custom', ...setting });
  }).safeParse(settings);
  if (!result.success) throw new InvalidConfig(explainFaults(Config, settings, result.error, WORDS));
  const { name, stage } = result.data;
  return { canary: stage === PRODUCTION_STAGE, ...result.data, name: nameOf(name, stage) };
};
