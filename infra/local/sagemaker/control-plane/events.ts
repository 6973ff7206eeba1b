import { randomUUID } from 'node:crypto';
import { ACCOUNT_ID, REGION } from '../../assembly/resolve.ts';
import type { Endpoint, EndpointStatus } from './records.ts';

/** An event on the default bus of EventBridge. SageMaker sends none for inference components. */
export interface StateChangeEvent {
  version: '0';
  id: string;
  'detail-type': 'SageMaker Endpoint State Change';
  source: 'aws.sagemaker';
  account: string;
  time: string;
  region: string;
  resources: string[];
  detail: Readonly<Record<string, unknown>>;
}

/** Events have other names for the statuses than DescribeEndpoint. */
const EVENT_STATUS: Readonly<Record<EndpointStatus, string>> = {
  Creating: 'CREATING',
  Updating: 'UPDATING',
  InService: 'IN_SERVICE',
  Deleting: 'DELETING',
  Failed: 'FAILED',
};

/** @param at milliseconds since the epoch */
export const stateChange = (endpoint: Endpoint, at: number): StateChangeEvent => ({
  version: '0',
  id: randomUUID(),
  'detail-type': 'SageMaker Endpoint State Change',
  source: 'aws.sagemaker',
  account: ACCOUNT_ID,
  time: new Date(at).toISOString(),
  region: REGION,
  resources: [endpoint.arn],
  detail: {
    EndpointName: endpoint.name,
    EndpointArn: endpoint.arn,
    EndpointConfigName: endpoint.configName,
    EndpointStatus: EVENT_STATUS[endpoint.status],
    ...(endpoint.failureReason !== undefined && { FailureReason: endpoint.failureReason }),
    CreationTime: endpoint.createdAt,
    LastModifiedTime: endpoint.modifiedAt,
    Tags: Object.fromEntries(endpoint.tags),
  },
});
