const certificate = (region: string) => `arn:aws:acm:${region}:123456789012:certificate/0f5c9b1e-0000-4000-8000-000000000000`;

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
} as const;

/** Another host name in each stage. */
const hostsOf = (stage: string) => {
  const { serverless, ondemand } = options.cloudFront.hosts;
  const { control } = options.domain.hosts;
  const inStage = <Host extends { domain: string }>(host: Host) => ({ ...host, domain: `${stage}.${host.domain}` });
  return { serverless: inStage(serverless), ondemand: inStage(ondemand), control: inStage(control) };
};

/** All settings together that add something to the templates. */
export const everyOption = (stage: string) => ({
  stage,
  ...options.firewall,
  ...options.customerManagedKey,
  ...options.billBudget,
  hosts: hostsOf(stage),
  auditCopies: { days: 400 },
  detailedMetrics: true,
  deployments: { hubModels: true, detailedMetrics: true },
  notifications: { emailFrom: 'billing@example.com' },
  support: { email: 'support@example.com', events: true },
  reservedConcurrency: {},
  structuredOutputs: true,
  billing: {
    taxFunctionArn: 'arn:aws:lambda:eu-west-1:123456789012:function:taxes',
    stripeSecretArn: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:stripe-AbC123',
  },
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
});
