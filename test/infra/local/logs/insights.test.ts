import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CloudWatchLogsClient, GetQueryResultsCommand, StartQueryCommand } from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { functionLogGroup } from '../../../../infra/local/logs/function-log-groups.ts';
import { type SageMakerEmulator, startSageMaker } from '../../../../infra/local/sagemaker/server.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const START = Date.UTC(2026, 10, 21, 12);
const folder = temporaryFolder();
const file = path.join(folder.path, 'inference.log');
const lineAt = (second: number, fields: object): string =>
  `${JSON.stringify({ timestamp: new Date(START + second * SECOND_MS).toISOString(), level: 'INFO', ...fields })}\n`;

let emulator: SageMakerEmulator;
let logs: CloudWatchLogsClient;
beforeAll(async () => {
  const lines = [
    lineAt(0, { message: 'refused', status: 503, code: 'no_capacity' }),
    lineAt(1, { message: 'refused', status: 429, code: 'rate_limited' }),
    lineAt(2, { message: 'request', step_ends_ms: [1, 20], is_capped: true }),
    'Task timed out\n',
    lineAt(5, { message: 'refused', status: 503, code: 'upstream_error' }),
    lineAt(6, { message: 'refused', status: 500, code: 'no_capacity' }),
  ];
  writeFileSync(file, lines.join(''));
  emulator = await startSageMaker(new Map(), { logGroups: [functionLogGroup('sluice-serverless-InferenceLogs1', file)] });
  logs = new CloudWatchLogsClient({
    endpoint: emulator.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
});
afterAll(async () => {
  logs.destroy();
  await emulator.close();
  await folder[Symbol.asyncDispose]();
});

const SOURCE = "SOURCE logGroups(namePrefix: ['sluice-serverless-Inference'])";
const ask = async (query: string, seconds = 10) => {
  const startTime = START / SECOND_MS;
  const { queryId } = await logs.send(new StartQueryCommand({ queryString: query, startTime, endTime: startTime + seconds }));
  const { status, results = [] } = await logs.send(new GetQueryResultsCommand({ queryId }));
  expect(status).toBe('Complete');
  return results.map((row) => row.map(({ value }) => value).join(' '));
};

test('lines are filtered, and counted by a field', async () => {
  expect(
    await ask(`${SOURCE}
| filter message in ['refused', 'stream_broken'] and status >= 500
| stats count(*) as responses by code
| sort responses desc`),
  ).toEqual(['no_capacity 2', 'upstream_error 1']);
});

test('the newest line comes first, with its fields and their parts', async () => {
  expect(await ask(`${SOURCE}\n| fields status, code\n| filter ispresent(status)\n| limit 2`)).toEqual([
    '500 no_capacity',
    '503 upstream_error',
  ]);
  expect(await ask(`${SOURCE} | fields step_ends_ms.1, step_ends_ms | filter @message like '"is_capped":true'`)).toEqual(['20 [1,20]']);
  expect(await ask(`${SOURCE} | fields code | filter not (status = 503) and ispresent(code) | sort code asc`)).toEqual([
    'no_capacity',
    'rate_limited',
  ]);
});

test('a line that is not JSON has the time of the line before', async () => {
  expect(await ask(`${SOURCE} | filter @message like 'Task timed out'`)).toEqual(['2026-11-21 12:00:02.000 Task timed out']);
});

test('lines outside the range of time are left out, and new ones are found', async () => {
  expect(await ask(`${SOURCE} | stats count(*)`, 1)).toEqual(['2']);
  appendFileSync(file, lineAt(7, { message: 'refused', status: 503, code: 'new' }));
  expect(await ask(`${SOURCE} | fields code | filter code = 'new'`)).toEqual(['new']);
});

test('a query that is malformed, or that needs more than the local run has, is rejected', async () => {
  for (const query of ['fields a |', `${SOURCE} | filter a ~ 1`, `${SOURCE} | parse @message '*' as x`, `${SOURCE} | limit many`])
    await expect(ask(query)).rejects.toMatchObject({ name: 'MalformedQueryException' });
  await expect(
    logs.send(new StartQueryCommand({ queryString: 'fields @message', startTime: 0, endTime: 1, logGroupNames: ['other'] })),
  ).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});
