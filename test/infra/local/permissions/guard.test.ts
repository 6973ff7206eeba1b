import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { createTableWrites } from '../../../../infra/local/dynamodb/table-writes.ts';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import { guardEndpoints } from '../../../../infra/local/permissions/guard.ts';

test('a call of the guarded database tells those who watch its table, after it was answered', async () => {
  await using started = new AsyncDisposableStack();
  const answered: string[] = [];
  const emulator = createServer((request, response) => {
    answered.push(String(request.headers['x-amz-target']));
    response.end('{}');
  });
  const url = await listen(emulator, 0);
  started.defer(() => closeServer(emulator));
  const writes = createTableWrites();
  const table = writes.watch('things');
  const seen = table.written(60_000).then((isWritten) => ({ isWritten, answered: [...answered] }));
  const endpoints = { dynamodbUrl: url, sagemakerUrl: url, s3Url: url, lambdaUrl: url, sqsUrl: url, sesUrl: url, cognitoUrl: null };
  const guarded = await guardEndpoints(endpoints, { functions: [], roles: [], report: () => undefined, writes }, started);
  const target = 'DynamoDB_20120810.PutItem';
  await fetch(guarded.dynamodbUrl, { method: 'POST', headers: { 'x-amz-target': target }, body: JSON.stringify({ TableName: 'things' }) });
  expect(await seen).toEqual({ isWritten: true, answered: [target] });
});
