import { admin } from '../../../../infra/tools/admin/main.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { runProgram } from '../../../support/run-program.ts';

// By which it finds the tables.
const adminEnvironment = ({ url, tables }: Pick<TestDatabase, 'url' | 'tables'>): NodeJS.ProcessEnv => ({
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
  AWS_ENDPOINT_URL_DYNAMODB: url,
  KEYS_TABLE: tables.Keys,
  MODELS_TABLE: tables.Models,
  DEPLOYMENTS_TABLE: tables.Deployments,
  USAGE_TABLE: tables.Usage,
  ACCOUNTS_TABLE: tables.Accounts,
  AUDIT_TABLE: tables.Audit,
  OBSERVABILITY_TABLE: tables.Observability,
  ORGANIZATION_CONCURRENCY: '100',
});

/** Runs `npm run admin` on the test's tables, with more environment variables. */
export const runAdmin = (database: Pick<TestDatabase, 'url' | 'tables'>, args: string[], more: Record<string, string> = {}) =>
  runProgram(admin, args, { ...adminEnvironment(database), ...more });
