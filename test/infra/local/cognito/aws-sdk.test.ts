import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const STAND_IN = path.join(import.meta.dirname, '../../../../infra/local/cognito/aws-sdk/index.cjs');
const { resolve } = createRequire(import.meta.url);

test.each(['cognito-local', '@aws-crypto/kms-keyring-node'])('%s gets our clients instead of the SDK v2', (dependent) => {
  expect(realpathSync(resolve('aws-sdk', { paths: [path.dirname(resolve(dependent))] }))).toBe(STAND_IN);
});

test('a trigger fails and says why', async () => {
  const { Lambda, KMS } = await import(STAND_IN);
  expect(() => new Lambda({}).invoke({ FunctionName: 'welcome' })).toThrow('no triggers of Cognito');
  expect(() => new KMS({})).toThrow('no triggers of Cognito');
});
