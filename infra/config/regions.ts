// CloudFormation has no `AWS::Budgets::Budget` there, and rejects a whole stack with such a resource.
const WITHOUT_BUDGETS: ReadonlySet<string> = new Set([
  'af-south-1',
  ...['ap-east-1', 'ap-east-2', 'ap-northeast-3', 'ap-south-2'],
  ...['ap-southeast-3', 'ap-southeast-4', 'ap-southeast-5', 'ap-southeast-6', 'ap-southeast-7'],
  'ca-west-1',
  ...['eu-central-2', 'eu-north-1', 'eu-south-1', 'eu-south-2'],
  'il-central-1',
  'me-central-1',
  'mx-central-1',
]);

const isGovCloud = (region: string): boolean => region.startsWith('us-gov-');

type Arn = string | undefined;

interface Settings {
  billBudget?: object | undefined;
  hosts: Record<'serverless' | 'ondemand', { cloudFront?: object | undefined; certificateArn?: Arn }> & {
    control: { certificateArn?: Arn };
  };
  billing: { taxFunctionArn?: Arn; stripeSecretArn?: Arn };
  telemetry?: { otlp: readonly { headersSecretArn?: Arn }[] } | undefined;
  tables: Readonly<Record<string, { streamArn?: Arn }>>;
}

interface UnavailableSetting {
  path: (string | number)[];
  message: string;
}

const arnsOf = ({ hosts, billing, telemetry, tables }: Settings): [UnavailableSetting['path'], Arn][] => [
  ...Object.entries(hosts).map(([name, { certificateArn }]): [string[], Arn] => [['hosts', name, 'certificateArn'], certificateArn]),
  [['billing', 'taxFunctionArn'], billing.taxFunctionArn],
  [['billing', 'stripeSecretArn'], billing.stripeSecretArn],
  ...(telemetry?.otlp ?? []).map(({ headersSecretArn }, index): [(string | number)[], Arn] => [
    ['telemetry', 'otlp', index, 'headersSecretArn'],
    headersSecretArn,
  ]),
  ...Object.entries(tables).map(([name, { streamArn }]): [string[], Arn] => [['tables', name, 'streamArn'], streamArn]),
];

/** The settings that need what a region lacks, or that are in another region. */
export const unavailableIn = (region: string, settings: Settings): UnavailableSetting[] => {
  const { billBudget, hosts } = settings;
  const found: UnavailableSetting[] = [];
  for (const [path, arn] of arnsOf(settings)) {
    const [, , , regionOfArn = region] = arn?.split(':') ?? [];
    if (regionOfArn !== region)
      found.push({ path, message: `this is in ${regionOfArn}, but the deployment is in ${region}. Use one of ${region}` });
  }
  if (billBudget && (WITHOUT_BUDGETS.has(region) || isGovCloud(region)))
    found.push({
      path: ['billBudget'],
      message: `CloudFormation can't create budgets in ${region}. Remove the setting; docs/options.md has the command that creates the same budget`,
    });
  for (const name of ['serverless', 'ondemand'] as const)
    if (hosts[name].cloudFront && isGovCloud(region))
      found.push({ path: ['hosts', name, 'cloudFront'], message: `there is no CloudFront in ${region}. Remove the setting` });
  return found;
};
