import { expect, test } from '@jest/globals';
import { compileFilter } from '../../../infra/assembly/event-filter.ts';
import { createEventBus } from '../../../infra/local/event-bus.ts';

const rule = (functionArn: string, pattern: object) => ({ ruleArn: 'arn:rule', functionArn, matches: compileFilter(pattern, 'Rule') });

test('an event reaches the functions of the rules that it matches, in EventBridge’s form', () => {
  const received: unknown[] = [];
  const bus = createEventBus(
    [
      rule('arn:deployments', {
        source: ['aws.sagemaker'],
        'detail-type': ['SageMaker Endpoint State Change'],
        detail: { EndpointName: [{ prefix: 'sluice-' }] },
      }),
      rule('arn:another', { source: ['aws.ec2'] }),
    ],
    (functionArn, event) => received.push({ functionArn, event: JSON.parse(String(event)) }),
  );
  const report = (EndpointName: string): void =>
    bus.publish({
      source: 'aws.sagemaker',
      detailType: 'SageMaker Endpoint State Change',
      resources: [`arn:aws:sagemaker:us-east-1:000000000000:endpoint/${EndpointName}`],
      detail: { EndpointName, EndpointStatus: 'IN_SERVICE' },
    });
  report('mine');
  report('sluice-1');
  expect(received).toEqual([
    {
      functionArn: 'arn:deployments',
      event: {
        version: '0',
        id: expect.any(String),
        'detail-type': 'SageMaker Endpoint State Change',
        source: 'aws.sagemaker',
        account: '000000000000',
        time: expect.stringMatching(/Z$/),
        region: 'us-east-1',
        resources: ['arn:aws:sagemaker:us-east-1:000000000000:endpoint/sluice-1'],
        detail: { EndpointName: 'sluice-1', EndpointStatus: 'IN_SERVICE' },
      },
    },
  ]);
});
