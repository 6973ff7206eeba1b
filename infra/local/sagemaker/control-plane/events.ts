import type { ServiceEvent } from '../../event-bus.ts';
import type { Endpoint, EndpointStatus } from './records.ts';

// Events have other names for the statuses than DescribeEndpoint.
const EVENT_STATUS: Readonly<Record<EndpointStatus, string>> = {
  Creating: 'CREATING',
  Updating: 'UPDATING',
  InService: 'IN_SERVICE',
  Deleting: 'DELETING',
  Failed: 'FAILED',
};

/** The event of an endpoint's change. SageMaker reports nothing of inference components. */
export const stateChange = (endpoint: Endpoint): ServiceEvent => ({
  source: 'aws.sagemaker',
  detailType: 'SageMaker Endpoint State Change',
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
