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

interface Settings {
  billBudget?: object | undefined;
  hosts: { serverless: { cloudFront?: object | undefined }; ondemand: { cloudFront?: object | undefined } };
}

interface UnavailableSetting {
  path: string[];
  message: string;
}

/** The settings that need what a region lacks. */
export const unavailableIn = (region: string, { billBudget, hosts }: Settings): UnavailableSetting[] => {
  const found: UnavailableSetting[] = [];
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
