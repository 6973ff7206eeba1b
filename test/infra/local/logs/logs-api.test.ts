import {
  DescribeLogGroupsCommand,
  DescribeLogStreamsCommand,
  FilterLogEventsCommand,
  type FilterLogEventsCommandInput,
  GetLogEventsCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { beforeEach, expect, test } from '@jest/globals';
import { type ControlPlane, createControlPlane } from '../../../support/emulators/sagemaker-control-plane.ts';
import { deploy, scaledVariant } from '../sagemaker/deployment.ts';

let plane: ControlPlane;
beforeEach(async () => {
  plane = createControlPlane();
  await deploy(plane, 'a', 2, scaledVariant('ml.g5.xlarge', 2));
});

const logGroupName = '/aws/sagemaker/InferenceComponents/a';
const filter = async (input: Partial<FilterLogEventsCommandInput> = {}) =>
  plane.logs.send(new FilterLogEventsCommand({ logGroupName, ...input }));
const messagesOf = ({ events = [] }: { events?: { message?: string | undefined }[] | undefined }) => events.map(({ message }) => message);
const LINES_PER_COPY = 5;

test('a group has a stream for each copy, named after its variant and instance', async () => {
  const { logStreams } = await plane.logs.send(new DescribeLogStreamsCommand({ logGroupName }));
  expect(logStreams).toHaveLength(2);
  for (const { logStreamName } of logStreams ?? []) expect(logStreamName).toMatch(/^AllTraffic\/i-[0-9a-f]{17}\//);
  const latest = await plane.logs.send(
    new DescribeLogStreamsCommand({ logGroupName, orderBy: 'LastEventTime', descending: true, limit: 1 }),
  );
  expect(latest.logStreams).toEqual([logStreams?.at(-1)]);
  expect(latest.nextToken).toBeDefined();
  const { logGroups } = await plane.logs.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: '/aws/sagemaker/' }));
  expect(logGroups).toMatchObject([{ logGroupName }]);
});

test('events are found by time, stream and terms, in pages', async () => {
  const all = await filter();
  expect(all.events).toHaveLength(2 * LINES_PER_COPY);
  expect(messagesOf(await filter({ filterPattern: '"startup complete"' }))).toHaveLength(2);
  expect(messagesOf(await filter({ filterPattern: 'INFO -startup' }))).toHaveLength(8);
  expect(messagesOf(await filter({ filterPattern: '?Traceback ?startup' }))).toHaveLength(2);
  const last = all.events?.at(-1)?.timestamp ?? 0;
  expect(messagesOf(await filter({ startTime: last }))).toHaveLength(2);
  expect(messagesOf(await filter({ endTime: last }))).toHaveLength(8);
  const page = await filter({ limit: 6 });
  const rest = await filter({ limit: 6, nextToken: page.nextToken });
  expect([...messagesOf(page), ...messagesOf(rest)]).toEqual(messagesOf(all));
  expect(rest.nextToken).toBeUndefined();
});

test('a stream is read from its end or its head, and the same token says that there is no more', async () => {
  const { logStreams: [stream] = [] } = await plane.logs.send(new DescribeLogStreamsCommand({ logGroupName }));
  const input = { logGroupName, logStreamName: stream?.logStreamName, limit: 3 };
  const end = await plane.logs.send(new GetLogEventsCommand(input));
  const before = await plane.logs.send(new GetLogEventsCommand({ ...input, nextToken: end.nextBackwardToken }));
  const head = await plane.logs.send(new GetLogEventsCommand({ ...input, limit: LINES_PER_COPY, startFromHead: true }));
  expect([...messagesOf(before), ...messagesOf(end)]).toEqual(messagesOf(head));
  const none = await plane.logs.send(new GetLogEventsCommand({ ...input, nextToken: head.nextForwardToken }));
  expect([none.events, none.nextForwardToken]).toEqual([[], head.nextForwardToken]);
});

test('a group and a stream that do not exist cannot be found', async () => {
  const notFound = { name: 'ResourceNotFoundException', message: 'The specified log group does not exist.' };
  await expect(filter({ logGroupName: '/aws/sagemaker/InferenceComponents/b' })).rejects.toMatchObject(notFound);
  await expect(plane.logs.send(new DescribeLogStreamsCommand({ logGroupName: 'b' }))).rejects.toMatchObject(notFound);
  await expect(plane.logs.send(new GetLogEventsCommand({ logGroupName, logStreamName: 'x' }))).rejects.toThrow('log stream does not exist');
});
