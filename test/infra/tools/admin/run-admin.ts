import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { bundledProgram } from '../../../../infra/local/processes/bundled-program.ts';
import { compileCache } from '../../../../infra/local/processes/compile-cache.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';

const MAIN = path.join(import.meta.dirname, '../../../../infra/tools/admin/main.ts');

/** Runs `npm run admin` on the test's tables, with more environment variables. */
export const runAdmin = async (
  database: Pick<TestDatabase, 'url' | 'tables'>,
  args: string[],
  more: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> => {
  const { Keys: KEYS_TABLE, Models: MODELS_TABLE, Deployments: DEPLOYMENTS_TABLE } = database.tables;
  const { Usage: USAGE_TABLE, Accounts: ACCOUNTS_TABLE, Audit: AUDIT_TABLE, Observability: OBSERVABILITY_TABLE } = database.tables;
  const env = {
    ...compileCache,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    AWS_ENDPOINT_URL_DYNAMODB: database.url,
    KEYS_TABLE,
    MODELS_TABLE,
    DEPLOYMENTS_TABLE,
    USAGE_TABLE,
    ACCOUNTS_TABLE,
    AUDIT_TABLE,
    OBSERVABILITY_TABLE,
    ORGANIZATION_CONCURRENCY: '100',
    ...more,
  };
  try {
    return {
      code: 0,
      ...(await promisify(execFile)(process.execPath, [await bundledProgram(MAIN), ...args], {
        env,
      })),
    };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
};
