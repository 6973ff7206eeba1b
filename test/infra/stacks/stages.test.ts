import { beforeAll, describe, expect, test } from '@jest/globals';
import { interpret } from '../../../infra/assembly/interpret.ts';
import { type Resource, readAssembly, type Stack } from '../../../infra/assembly/read-assembly.ts';
import { assemblyDir } from '../../support/assembly/assembly.ts';
import { everyOption } from '../../support/assembly/every-option.ts';
import { isolatedAssembly, validatedAssembly } from '../../support/assembly/isolated-assembly.ts';
import { readAcknowledgements } from '../../support/faults/acknowledgements.ts';

// Usually ten seconds; more on a machine that runs other tests.
const SYNTHESES_MS = 360_000;

type Stage = 'dev' | 'prod';

let folders: Record<Stage, string>;
let stacks: Record<Stage, Stack[]>;

beforeAll(async () => {
  // API Gateway has one role for logs in an account and region, so only one stage sets it.
  const contextOf = (stage: Stage) => ({
    sluice: { ...everyOption(stage), gatewayLogRole: stage === 'prod' },
    'aws:cdk:bundling-stacks': [],
  });
  // Their synthesis also fails if they break a rule of CloudFormation.
  folders = { dev: await isolatedAssembly(contextOf('dev')), prod: await validatedAssembly(contextOf('prod')) };
  stacks = { dev: await readAssembly(folders.dev), prod: await readAssembly(folders.prod) };
}, SYNTHESES_MS);

const resourcesOf = (stage: Stage): Resource[] => stacks[stage].flatMap(({ resources }) => [...resources.values()]);
const ofType = (stage: Stage, type: string): Resource[] => resourcesOf(stage).filter((resource) => resource.type === type);

// Names of parts of a resource, not of the resource, and one that AWS has in every account.
const OF_PARTS = new Set([
  'AWS::ApiGateway::Stage StageName',
  'AWS::CloudWatch::Alarm MetricName',
  'AWS::CodeDeploy::DeploymentGroup DeploymentConfigName',
  'AWS::IAM::Policy PolicyName',
  'AWS::Lambda::Alias Name',
]);
// A name that CloudFormation gives, or of something else in the stack.
const REFERENCE = /"Fn::GetAtt"|"Ref":"(?!AWS::)/;

// An account has each of these names only once.
const namesOf = (stage: Stage): string[] =>
  resourcesOf(stage).flatMap(({ type, properties }) =>
    Object.entries(properties)
      .filter(([key]) => /(^Name|Name|^Alias)$/.test(key) && !OF_PARTS.has(`${type} ${key}`))
      .map(([key, value]) => `${type} ${key} ${JSON.stringify(value)}`)
      .filter((name) => !REFERENCE.test(name)),
  );

const shared = (of: (stage: Stage) => readonly string[]): string[] => of('dev').filter((name) => of('prod').includes(name));

describe('two stages in one account, with every option', () => {
  test('share no name of a stack, an export or a resource', () => {
    expect(shared((stage) => stacks[stage].map(({ name }) => name))).toEqual([]);
    expect(shared((stage) => stacks[stage].flatMap(({ exports }) => [...exports.keys()]))).toEqual([]);
    expect(namesOf('dev').length).toBeGreaterThan(10);
    expect(shared(namesOf)).toEqual([]);
  });

  test('share no namespace of metrics, and no rule for traces', () => {
    const namespaces = (stage: Stage) =>
      ofType(stage, 'AWS::Logs::MetricFilter').flatMap(({ properties }) =>
        (properties.MetricTransformations as { MetricNamespace: string }[]).map(({ MetricNamespace }) => MetricNamespace),
      );
    expect(new Set(namespaces('dev'))).toEqual(new Set(['sluice-dev']));
    expect(new Set(namespaces('prod'))).toEqual(new Set(['sluice-prod']));
    const rules = (stage: Stage) =>
      ofType(stage, 'AWS::XRay::SamplingRule').map(({ properties }) => (properties.SamplingRule as { RuleName: string }).RuleName);
    expect([...rules('dev'), ...rules('prod')]).toEqual(['sluice-dev', 'sluice-prod']);
  });

  test('manage no deployments of the other stage', () => {
    const installations = (stage: Stage) =>
      ofType(stage, 'AWS::Lambda::Function').flatMap(({ properties }) => {
        const { Variables } = properties.Environment as { Variables: Record<string, unknown> };
        return Variables.INSTALLATION === undefined ? [] : [Variables.INSTALLATION];
      });
    expect(new Set(installations('dev'))).toEqual(new Set(['sluice-dev']));
    expect(new Set(installations('prod'))).toEqual(new Set(['sluice-prod']));
  });

  test('need the role for API Gateway’s logs once', () => {
    expect([ofType('dev', 'AWS::ApiGateway::Account'), ofType('prod', 'AWS::ApiGateway::Account')].map(({ length }) => length)).toEqual([
      0, 1,
    ]);
  });

  test('run on the deployer’s machine with the hosts, functions and tables of an app without options', async () => {
    const plain = interpret(await readAssembly(assemblyDir()));
    const full = interpret(stacks.dev);
    expect(full.apis.map(({ routes }) => routes.length)).toEqual(plain.apis.map(({ routes }) => routes.length));
    expect(full.tables.map(({ logicalId }) => logicalId)).toEqual(plain.tables.map(({ logicalId }) => logicalId));
    const names = full.functions.map(({ shortName }) => shortName);
    expect(names).toEqual(expect.arrayContaining(plain.functions.map(({ shortName }) => shortName)));
  });
});

describe('domains, CloudFront, firewalls and keys together', () => {
  test('leave no host that can be reached past its domain or its firewall', () => {
    const apis = ofType('prod', 'AWS::ApiGateway::RestApi');
    expect(apis.map(({ properties }) => properties.DisableExecuteApiEndpoint)).toEqual([true, true, true]);
    const associations = ofType('prod', 'AWS::WAFv2::WebACLAssociation').map(({ properties }) => JSON.stringify(properties.ResourceArn));
    expect(associations).toHaveLength(apis.length);
    for (const stage of associations) expect(stage).toContain('/stages/');
  });

  test('let each firewall compare the secret that its distribution sends', () => {
    const secrets = ofType('prod', 'AWS::SecretsManager::Secret').map(({ properties }) => String(properties.Name));
    expect(secrets.sort()).toEqual(['sluice-prod/cloudfront/ondemand', 'sluice-prod/cloudfront/serverless']);
    const lists = ofType('prod', 'AWS::WAFv2::WebACL').map(({ properties }) => JSON.stringify(properties.Rules));
    for (const secret of secrets)
      expect(lists.filter((rules) => rules.includes(`{{resolve:secretsmanager:${secret}:SecretString:::}}`))).toHaveLength(1);
    expect(lists.filter((rules) => rules.includes('OnlyCloudFront'))).toHaveLength(2);
  });

  test.each([
    ['AWS::DynamoDB::GlobalTable', ['"SSEType":"KMS"', '"KMSMasterKeyId":']],
    ['AWS::S3::Bucket', ['"SSEAlgorithm":"aws:kms"', '"KMSMasterKeyID":', '"BucketKeyEnabled":true']],
    ['AWS::SQS::Queue', ['"KmsMasterKeyId":']],
    ['AWS::Logs::LogGroup', ['"KmsKeyId":']],
    ['AWS::SNS::Topic', ['"KmsMasterKeyId":']],
  ])('encrypt every %s with the account’s key', (type, words) => {
    const found = ofType('prod', type).map(({ properties }) => JSON.stringify(properties));
    expect(found.length).toBeGreaterThan(0);
    for (const properties of found) {
      for (const word of words) expect(properties).toContain(word);
      expect(properties).toContain('"Fn::ImportValue":"sluice-prod-keys:');
      expect(properties).not.toContain('SqsManagedSseEnabled');
    }
  });

  test('give no role a permission for the key: it can be used through DynamoDB, S3 and SQS only', () => {
    for (const { properties } of ofType('prod', 'AWS::IAM::Policy')) expect(JSON.stringify(properties)).not.toContain('kms:');
  });
});

describe('the rules of cdk-nag', () => {
  test.each([
    ['without options', assemblyDir],
    ['with every option', () => folders.prod],
  ] as const)('hold %s, and each acknowledgement has a reason and is needed', (_, folder) => {
    const { broken, made, unneeded } = readAcknowledgements(folder());
    expect(broken).toEqual([]);
    expect(made.length).toBeGreaterThan(50);
    expect(made.filter(({ reason }) => !/^\S+ \S+ .*\.$/s.test(reason))).toEqual([]);
    expect(unneeded).toEqual([]);
  });
});
