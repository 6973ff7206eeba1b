import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { type LocalFacts, readFacts, writeFacts } from '../../../infra/local/local-facts.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const facts: LocalFacts = {
  base_url: 'http://127.0.0.1:4000',
  ondemand_url: null,
  control_url: null,
  api_key: 'sk-demo',
  model: 'sluice-tiny',
  ondemand_api_key: 'sk-odemo',
  ondemand_model: 'demo-deployment',
  dynamodb_endpoint: 'http://127.0.0.1:1',
  sagemaker_url: 'http://127.0.0.1:2',
  container_url: 'http://127.0.0.1:3',
  s3_endpoint: 'http://127.0.0.1:4',
  admin_email: 'admin@sluice.local',
  admin_password: 'secret',
  cognito_endpoint: 'http://127.0.0.1:6',
  user_pools: { Users: { id: 'us-east-1_a', client_id: 'b' } },
  lambda_endpoint: 'http://127.0.0.1:5',
  sqs_endpoint: 'http://127.0.0.1:7',
  panel_url: 'http://127.0.0.1:8',
  tables: { Keys: 'data-Keys' },
  buckets: { Tokenizers: 'data-tokenizers' },
  pids: { runner: 1, dynamodb: null, container: 2, cognito: 5, functions: { inference: [3, 4] } },
};

test('returns the facts as they were written, and leaves no temporary file', async () => {
  await using folder = temporaryFolder();
  await writeFacts(folder.path, facts);
  expect(await readFacts(folder.path)).toEqual(facts);
  expect(await readdir(folder.path)).toEqual(['local.json']);
});

test('returns undefined for missing facts and for facts of another version', async () => {
  await using folder = temporaryFolder();
  expect(await readFacts(folder.path)).toBeUndefined();
  await writeFile(path.join(folder.path, 'local.json'), '{"base_url":"x"}');
  expect(await readFacts(folder.path)).toBeUndefined();
});
