import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Resource, readAssembly, type Stack } from '../../../infra/assembly/read-assembly.ts';
import { everyOption } from '../../support/assembly/every-option.ts';
import { isolatedAssembly } from '../../support/assembly/isolated-assembly.ts';

// Usually a few seconds; more on a machine that runs other tests.
const SYNTHESIS_MS = 180_000;

interface Delivery {
  queueId: string;
  queue: Record<string, unknown>;
  functionName: string;
  fn: Record<string, unknown>;
  /** True if the function can also send messages to the queue. */
  sends: boolean;
}

const idIn = (reference: unknown): string => /"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(JSON.stringify(reference))?.[1] ?? '';
const nameOf = ({ properties }: Resource): string => String(Object(properties.Environment).Variables.SLUICE_FUNCTION);

const deliveriesOf = ({ resources }: Stack): Delivery[] =>
  [...resources.values()]
    .filter(({ type, properties }) => type === 'AWS::Lambda::EventSourceMapping' && idIn(properties.EventSourceArn).includes('Queue'))
    .map(({ properties: { EventSourceArn, FunctionName } }) => {
      const [queueId, fn] = [idIn(EventSourceArn), resources.get(idIn(FunctionName)) as Resource];
      const variables = Object.values(Object(fn.properties.Environment).Variables as object);
      return {
        queueId,
        queue: resources.get(queueId)?.properties ?? {},
        functionName: nameOf(fn),
        fn: fn.properties,
        sends: variables.some((value) => idIn(value) === queueId),
      };
    });

let functions: Resource[];
let deliveries: Delivery[];
beforeAll(async () => {
  const { stage: _, ...settings } = everyOption('prod');
  const stacks = await readAssembly(await isolatedAssembly({ sluice: settings, 'aws:cdk:bundling-stacks': [] }));
  functions = stacks.flatMap(({ resources }) => [...resources.values()].filter(({ type }) => type === 'AWS::Lambda::Function'));
  deliveries = stacks.flatMap(deliveriesOf);
}, SYNTHESIS_MS);

describe('the queues of functions', () => {
  test('take more than 300 messages a second, if they keep the order of groups', () => {
    const ordered = deliveries.filter(({ queue }) => queue.FifoQueue === true);
    expect(ordered.map(({ functionName }) => functionName).sort()).toEqual(['billing', 'billing', 'deployments', 'metering', 'payloads']);
    for (const { queue } of ordered)
      expect(queue).toMatchObject({ DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' });
  });

  test("redeliver after six times the function's time limit, except those of decision 0071", () => {
    const shorter = deliveries.filter(({ queue, fn }) => Number(queue.VisibilityTimeout) < 6 * Number(fn.Timeout));
    const times = shorter.map(({ functionName, queue, fn }) => [functionName, queue.VisibilityTimeout, fn.Timeout]);
    expect(times.sort()).toEqual([
      ['billing', 960, 900],
      ['billing', 960, 900],
      ['deployments', 90, 60],
      ['metering', 300, 240],
    ]);
  });
});

describe('Lambda’s detection of recursive loops', () => {
  test('is off for functions whose messages lead to messages to themselves, and on for all others', () => {
    const allowed = functions.filter(({ properties }) => properties.RecursiveLoop === 'Allow').map(nameOf);
    expect(allowed.sort()).toEqual(['billing', 'deployments', 'notifications']);
    expect(functions.filter(({ properties }) => ![undefined, 'Allow'].includes(properties.RecursiveLoop as string)).map(nameOf)).toEqual(
      [],
    );
  });

  test('can only stop a function that sends to its own queue while it handles something else', () => {
    const ofThemselves = new Set(deliveries.filter(({ sends }) => sends).map(({ functionName }) => functionName));
    // The sweep sends settlements, requests for codes are queued, and the stream of usage events gives spans to send;
    // their messages lead to no others.
    expect([...ofThemselves].sort()).toEqual(['billing', 'deployments', 'metering', 'notifications', 'sign-in', 'telemetry']);
  });
});
