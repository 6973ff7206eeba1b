import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { afterEach, expect, test } from '@jest/globals';
import { endpointOf, regionalEndpoint, type Service } from '../../../shared/aws/endpoint.ts';

const regions = [
  'us-east-1',
  'eu-central-1',
  'us-gov-west-1',
  'cn-north-1',
  'cn-northwest-1',
  'eusc-de-east-1',
  'us-iso-east-1',
  'us-isob-east-1',
  'us-isof-south-1',
  'eu-isoe-west-1',
];
const clients = { dynamodb: DynamoDBClient, lambda: LambdaClient, sagemakerRuntime: SageMakerRuntimeClient };

test.each(Object.entries(clients))("finds the endpoints of %s that AWS's own client has", (service, Client) => {
  for (const Region of regions) {
    const { endpointProvider } = new Client({ region: Region }).config;
    const { url } = endpointProvider({ Region, UseFIPS: false, UseDualStack: false });
    expect([Region, new URL(regionalEndpoint(service as Service, Region)).host]).toEqual([Region, url.host]);
  }
});

afterEach(() => {
  for (const name of ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_DYNAMODB']) delete process.env[name];
});

test('takes the endpoint of one service or of all from the environment', () => {
  expect(endpointOf('dynamodb', 'us-east-1')).toBe('https://dynamodb.us-east-1.amazonaws.com');
  process.env.AWS_ENDPOINT_URL = 'http://all:1';
  expect(endpointOf('dynamodb', 'us-east-1')).toBe('http://all:1');
  process.env.AWS_ENDPOINT_URL_DYNAMODB = 'http://one:1';
  expect(endpointOf('dynamodb', 'us-east-1')).toBe('http://one:1');
});
