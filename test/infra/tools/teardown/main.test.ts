import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { teardown } from '../../../../infra/tools/teardown/main.ts';
import { type FakeAws, startFakeAws } from '../../../support/emulators/fake-aws.ts';
import { runProgram } from '../../../support/run-program.ts';

let aws: FakeAws;
beforeAll(async () => {
  aws = await startFakeAws();
});
afterAll(() => aws.close());

const run = async (flags: string[], environment: Record<string, string> = { AWS_REGION: 'eu-west-1' }) => {
  const { PATH = '', HOME = '' } = process.env;
  const keys = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', AWS_ENDPOINT_URL: aws.url };
  const { code, stdout: output, stderr: errors } = await runProgram(teardown, flags, { PATH, HOME, ...keys, ...environment });
  return { code, output, errors };
};

const member = (logicalId: string, type: string, name: string): string =>
  `<member><LogicalResourceId>${logicalId}</LogicalResourceId><ResourceType>${type}</ResourceType><ResourceStatus>CREATE_COMPLETE</ResourceStatus><PhysicalResourceId>${name}</PhysicalResourceId></member>`;

test('names what a deployed data stack leaves, with commands that delete it, and the stacks not deployed', async () => {
  aws.answers((response, _, { body }) => {
    const isData = body.includes('StackName=acme-data');
    const missing =
      '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id x does not exist</Message></Error></ErrorResponse>';
    const resources =
      member('Keys', 'AWS::DynamoDB::GlobalTable', 'acme-data-Keys-1A2B') + member('Weights', 'AWS::S3::Bucket', 'acme-weights-3c4d');
    const found = `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${resources}</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`;
    response.writeHead(isData ? 200 : 400, { 'content-type': 'text/xml' }).end(isData ? found : missing);
  });
  const { code, output, errors } = await run(['-c', 'sluice={"name":"acme"}']);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(output).toMatch(/npx cdk destroy .*acme-serverless/);
  expect(output).not.toMatch(/npx cdk destroy .*acme-data/);
  expect(output).toMatch(/termination protection.*acme-data acme-identity/s);
  expect(output).toContain('aws dynamodb delete-table --table-name acme-data-Keys-1A2B');
  expect(output).toContain('aws s3api delete-bucket --bucket acme-weights-3c4d');
  expect(output).toContain('aws secretsmanager list-secrets --filters Key=name,Values=acme-control/providers/ ');
  expect(output).toMatch(/Not deployed: .*acme-serverless/);
  expect(output).not.toContain('Usage');
});

test('--check looks in every region that is configured, and fails only if a GPU of Sluice is billed', async () => {
  const regions: string[] = [];
  aws.answers((response, _, { headers }) => {
    regions.push(/\/\d{8}\/([^/]+)\/sagemaker\//.exec(headers.authorization ?? '')?.[1] ?? '');
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end('{"Endpoints":[]}');
  });
  const { code, output } = await run(['--check', '-c', 'sluice={"endpointRegions":["us-east-1","eu-west-1"]}']);
  expect({ code, output }).toEqual({ code: 0, output: 'No GPU of Sluice is billed in eu-west-1, us-east-1.\n' });
  expect(regions).toEqual(['eu-west-1', 'us-east-1']);

  aws.answers((response, _, { headers }) => {
    const operation = String(headers['x-amz-target']).split('.')[1];
    const replies: Record<string, object> = {
      ListEndpoints: {
        Endpoints: [
          {
            EndpointName: 'qwen',
            EndpointArn: 'arn:aws:sagemaker:eu-west-1:1:endpoint/qwen',
            EndpointStatus: 'InService',
            CreationTime: 0,
            LastModifiedTime: 0,
          },
        ],
      },
      ListTags: { Tags: [{ Key: 'sluice', Value: 'true' }] },
      DescribeEndpoint: {
        EndpointName: 'qwen',
        EndpointConfigName: 'qwen',
        ProductionVariants: [{ VariantName: 'all', CurrentInstanceCount: 2 }],
      },
      DescribeEndpointConfig: { EndpointConfigName: 'qwen', ProductionVariants: [{ VariantName: 'all', InstanceType: 'ml.g5.xlarge' }] },
    };
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(replies[String(operation)]));
  });
  const billed = await run(['--check']);
  expect(billed.code).toBe(1);
  expect(billed.output).toContain('eu-west-1  qwen  InService  2 × ml.g5.xlarge');
});

test('says what is missing if there is no region or AWS denies the call', async () => {
  expect(await run(['--check'], {})).toMatchObject({ code: 1, errors: expect.stringContaining('Set AWS_REGION') });
  aws.answers((response) =>
    response
      .writeHead(400, { 'content-type': 'application/x-amz-json-1.1' })
      .end('{"__type":"AccessDeniedException","message":"not authorized to perform: sagemaker:ListEndpoints"}'),
  );
  const { code, errors } = await run(['--check']);
  expect({ code, errors }).toEqual({ code: 1, errors: 'AccessDeniedException: not authorized to perform: sagemaker:ListEndpoints\n' });
});
