const certificate = (region: string) => `arn:aws:acm:${region}:123456789012:certificate/0f5c9b1e-0000-4000-8000-000000000000`;

const USAGE_STREAM = 'arn:aws:dynamodb:eu-west-1:123456789012:table/usage-2/stream/2026-11-21T17:02:11.123';

/** The settings of one option each, by its name. */
export const options = {
  domain: {
    hosts: {
      serverless: { domain: 'api.example.com', certificateArn: certificate('eu-west-1') },
      ondemand: { domain: 'ondemand.example.com', certificateArn: certificate('eu-west-1') },
      control: { domain: 'control.example.com', certificateArn: certificate('eu-west-1') },
    },
  },
  cloudFront: {
    hosts: {
      serverless: {
        domain: 'api.example.com',
        certificateArn: certificate('eu-west-1'),
        cloudFront: { certificateArn: certificate('us-east-1') },
      },
      ondemand: {
        domain: 'ondemand.example.com',
        certificateArn: certificate('eu-west-1'),
        cloudFront: { certificateArn: certificate('us-east-1') },
      },
    },
  },
  firewall: { firewall: {} },
  customerManagedKey: { customerManagedKey: true },
  billBudget: { billBudget: { monthlyUsd: 500 }, alarmEmail: 'ops@example.com' },
  auditCopies: { auditCopies: { days: 400 } },
  warmThroughput: { warmThroughput: { keys: { writesPerSecond: 12_000 }, usage: { writesPerSecond: 8_000 } } },
  detailedMetrics: { detailedMetrics: true },
  deployments: { deployments: { hubModels: true, detailedMetrics: true, maxHeldRequests: 20, maxHeldRequestsOfOrganization: 40 } },
  notifications: { notifications: { emailFrom: 'billing@example.com' }, support: { email: 'support@example.com', events: true } },
  organizationConcurrency: { organizationConcurrency: 60 },
  reservedConcurrency: { reservedConcurrency: {} },
  provisionedConcurrency: { provisionedConcurrency: { inference: 1, 'ondemand-inference': 1 } },
  canary: { canary: true },
  billing: {
    billing: {
      taxFunctionArn: 'arn:aws:lambda:eu-west-1:123456789012:function:taxes',
      stripeSecretArn: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:stripe/live-AbC123',
    },
  },
  telemetry: {
    telemetry: {
      otlp: [
        {
          aws: true,
          traces: 'https://xray.eu-west-1.amazonaws.com/v1/traces',
          metrics: 'https://monitoring.eu-west-1.amazonaws.com/v1/metrics',
        },
        {
          traces: 'https://otlp.example.com/v1/traces',
          headersSecretArn: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:otlp-AbC123',
        },
      ],
    },
  },
  tables: { tables: { responses: { name: 'responses-2' }, usage: { name: 'usage-2', streamArn: USAGE_STREAM } } },
} as const;

const hostsOf = (stage: string) => {
  const { serverless, ondemand } = options.cloudFront.hosts;
  const { control } = options.domain.hosts;
  const inStage = <Host extends { domain: string }>(host: Host) => ({ ...host, domain: `${stage}.${host.domain}` });
  return { serverless: inStage(serverless), ondemand: inStage(ondemand), control: inStage(control) };
};

/** All settings together that add something to the templates. */
export const everyOption = (stage: string) => ({
  stage,
  hosts: hostsOf(stage),
  ...options.firewall,
  ...options.customerManagedKey,
  ...options.billBudget,
  ...options.auditCopies,
  ...options.warmThroughput,
  ...options.detailedMetrics,
  ...options.deployments,
  ...options.notifications,
  ...options.organizationConcurrency,
  ...options.reservedConcurrency,
  ...options.provisionedConcurrency,
  ...options.canary,
  ...options.billing,
  ...options.telemetry,
});

/** The same in no stage. Suites that use exactly these settings share a synthesis. */
export const allOptions = { ...everyOption('prod'), stage: undefined };
