import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { CloudAssembly, type CloudFormationStackArtifact } from 'aws-cdk-lib/cx-api';
import { readConfig } from '../../../infra/config/config.ts';
import { createEvaluator, type Resource } from '../../support/assembly/deployed-text.ts';
import { everyOption, options } from '../../support/assembly/every-option.ts';
import { isolatedAssembly } from '../../support/assembly/isolated-assembly.ts';
import { linkedStacks, refusedUpdates } from '../../support/assembly/stack-updates.ts';

// Usually a few seconds; more on a machine that runs other tests.
const SYNTHESIS_MS = 180_000;

const MAX_RESOURCES = 500;
const MAX_OUTPUTS = 200;
const MAX_TEMPLATE_BYTES = 1_000_000;
const MAX_ENVIRONMENT_BYTES = 4_096;
// All inline policies of a role together, without white space.
const MAX_POLICY_BYTES = 10_240;
const MAX_FUNCTION_POLICY_BYTES = 20_480;

const BUDGET = 'AWS::Budgets::Budget';
// One region of each kind, with the resources that CloudFormation lacks there, and the options that the configuration
// refuses.
const REGIONS = [
  { region: 'us-east-1', lacks: [], refused: [] },
  { region: 'eu-west-1', lacks: [], refused: [] },
  { region: 'eu-north-1', lacks: [BUDGET], refused: ['billBudget'] },
  {
    region: 'us-gov-west-1',
    lacks: [BUDGET, 'AWS::CloudFront::Distribution', 'AWS::CloudFront::Function', 'AWS::CloudFront::OriginRequestPolicy'],
    refused: ['billBudget', 'cloudFront'],
  },
] as const;

const HOLIDAYS = Array.from({ length: 40 }, (_, day) => new Date(Date.UTC(2027, 0, 1 + day)).toISOString().slice(0, 10));
const NETWORKS = Array.from({ length: 20 }, (_, i) => `abcd:ef01:2345:6789:abcd:ef01:255.255.255.2${10 + i}/128`);
const SLOWEST = { low: 262_800, normal: 262_800, high: 262_800, urgent: 262_800 };
const hoursWith = (holidays: readonly string[]) => ({
  ...{ timeZone: 'America/Argentina/ComodRivadavia', days: [1, 2, 3, 4, 5, 6, 7], from: '09:00', to: '24:00' },
  holidays,
});

// The longest values that functions get in their environments.
const largest = () => {
  const all = everyOption('production');
  const severities = ['low', 'normal', 'high', 'urgent'];
  const promise = { hours: hoursWith(HOLIDAYS), aroundTheClock: severities, firstResponseMinutes: SLOWEST, resolutionMinutes: SLOWEST };
  return {
    ...all,
    name: 'sluice-eu',
    commit: 'c'.repeat(64),
    endpointTag: 't'.repeat(128),
    notifications: { ...all.notifications, allowedNetworks: NETWORKS },
    support: { ...all.support, promise },
  };
};

// CloudFront's certificates are in us-east-1 everywhere.
const settingsIn = (region: string, settings: object): object =>
  JSON.parse(
    JSON.stringify(settings)
      .replaceAll('eu-west-1', region)
      .replaceAll(/arn:aws:(?!acm:us-east-1)/g, region.startsWith('us-gov-') ? 'arn:aws-us-gov:' : 'arn:aws:'),
  );

const without = (refused: readonly string[], settings: ReturnType<typeof largest>): object => {
  const { serverless, ondemand } = options.domain.hosts;
  return {
    ...settings,
    ...(refused.includes('billBudget') && { billBudget: undefined }),
    ...(refused.includes('cloudFront') && { hosts: { ...settings.hosts, serverless, ondemand } }),
  };
};

test.each([
  ['holiday', { support: { promise: { hours: hoursWith([...HOLIDAYS, '2028-01-01']) } } }],
  ['network', { notifications: { allowedNetworks: [...NETWORKS, '10.0.0.0/8'] } }],
])('the configuration refuses one %s more than fits with everything else', (_, settings) => {
  expect(() => readConfig(settings)).toThrow(/holidays|allowedNetworks/);
});

describe.each(REGIONS)('every option at once in $region', ({ region, lacks, refused }) => {
  let folder: string;
  let stacks: CloudFormationStackArtifact[];
  let evaluate: ReturnType<typeof createEvaluator>;
  beforeAll(async () => {
    const settings = settingsIn(region, without(refused, largest()));
    readConfig(settings, region);
    folder = await isolatedAssembly({ sluice: settings, 'aws:cdk:bundling-stacks': [] });
    stacks = new CloudAssembly(folder).stacks;
    evaluate = createEvaluator(stacks, region);
  }, SYNTHESIS_MS);

  const resourcesOf = ({ template }: CloudFormationStackArtifact): Resource[] => Object.values(template.Resources);
  /** These properties of all resources of a type. */
  const ofType = (type: string, ...names: string[]) =>
    stacks.flatMap((stack) =>
      resourcesOf(stack)
        .filter(({ Type }) => Type === type)
        .map(({ Properties = {} }) => evaluate(stack, Object.fromEntries(names.map((name) => [name, Properties[name]]))))
        .map((properties) => properties as Record<string, unknown>),
    );
  const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  const above = (sizes: Record<string, number>, limit: number): object =>
    Object.fromEntries(Object.entries(sizes).filter(([, size]) => size > limit));

  test('needs no type of resource that CloudFormation lacks there, and the configuration refuses what would', () => {
    const types = new Set(stacks.flatMap(resourcesOf).map(({ Type }) => Type));
    expect(types.size).toBeGreaterThan(40 - lacks.length);
    expect([...types].filter((type) => (lacks as readonly string[]).includes(type))).toEqual([]);
    const settings = settingsIn(region, largest());
    if (refused.length === 0) readConfig(settings, region);
    for (const option of refused) expect(() => readConfig(settings, region)).toThrow(option);
  });

  test('keeps each stack within the resources, outputs and bytes of a template', () => {
    for (const stack of stacks) {
      const { stackName, template } = stack;
      const size = { resources: resourcesOf(stack).length, outputs: Object.keys(template.Outputs ?? {}).length };
      const bytes = readFileSync(stack.templateFullPath).length;
      expect({ stackName, fits: size.resources <= MAX_RESOURCES && size.outputs <= MAX_OUTPUTS && bytes <= MAX_TEMPLATE_BYTES }).toEqual({
        stackName,
        fits: true,
      });
    }
  });

  test("keeps the environment of each function within Lambda’s 4 KB, with CloudFormation's longest names", () => {
    const environments = ofType('AWS::Lambda::Function', 'Environment').map(
      ({ Environment }) => (Environment as { Variables: object }).Variables,
    );
    const sizes = Object.fromEntries(environments.map((variables) => [Object(variables).SLUICE_FUNCTION, bytesOf(variables)]));
    expect(Object.keys(sizes).length).toBeGreaterThan(14);
    expect(sizes.control).toBeGreaterThan(3_000);
    expect(above(sizes, MAX_ENVIRONMENT_BYTES)).toEqual({});
  });

  test('keeps the policies of each role within what a role can have', () => {
    const sizes: Record<string, number> = {};
    const add = (role: string, document: unknown): void => {
      sizes[role] = (sizes[role] ?? 0) + bytesOf(document);
    };
    for (const { Roles, PolicyDocument } of ofType('AWS::IAM::Policy', 'Roles', 'PolicyDocument'))
      for (const role of Roles as string[]) add(role, PolicyDocument);
    expect(ofType('AWS::IAM::Role', 'Policies').filter(({ Policies }) => Policies !== undefined)).toEqual([]);
    expect(Object.keys(sizes).length).toBeGreaterThan(14);
    expect(above(sizes, MAX_POLICY_BYTES)).toEqual({});
  });

  test('keeps who may invoke a function within what the function’s own policy can have', () => {
    const sizes: Record<string, number> = {};
    for (const permission of ofType('AWS::Lambda::Permission', 'FunctionName', 'SourceArn', 'Principal', 'Action')) {
      const name = String(permission.FunctionName);
      sizes[name] = (sizes[name] ?? 0) + bytesOf(permission);
    }
    expect(Object.keys(sizes).length).toBeGreaterThan(5);
    expect(above(sizes, MAX_FUNCTION_POLICY_BYTES)).toEqual({});
  });

  test('imports nothing that the stacks before do not export', () => {
    expect(refusedUpdates([], linkedStacks(folder))).toEqual([]);
  });
});
