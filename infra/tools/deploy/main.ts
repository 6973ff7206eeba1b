import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import { readConfig, settingsOf } from '../../config/config.ts';
import { readAccountConcurrency } from './account-concurrency.ts';
import { flagsOfSettings, readCommandLine } from './command-line.ts';
import { CannotDeploy, decideReservation, decideShares } from './reservation.ts';

// `npm run deploy` checks what would make a deployment fail half-way, then runs `cdk deploy --all` with the same flags.
const ROOT = path.join(import.meta.dirname, '../../..');
const STACKS_WITH_FUNCTIONS = ['deployments', 'billing', 'notifications', 'serverless', 'ondemand', 'control', 'support'];

const USAGE = `npm run deploy -- [flags of cdk deploy]

Checks what would make a deployment fail half-way, sets how many executions each function reserves, and runs cdk deploy --all.
The settings are the context 'sluice' of cdk.json, or of the command line. docs/deploy.md has the whole way.

  -c sluice=JSON              settings instead of those of cdk.json, such as '{"name":"sluice-test"}'
  --profile NAME              the AWS profile
  --require-approval never    doesn't ask before it adds permissions, for a pipeline
  --help
`;

const hasTerminal = (): boolean => Boolean(process.stdin.isTTY && process.stdout.isTTY);

const main = async (flags: readonly string[]): Promise<number> => {
  if (flags.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { context, profile, isApproved } = readCommandLine(flags, path.join(ROOT, 'cdk.json'));
  if (!isApproved && !hasTerminal())
    throw new CannotDeploy(
      'The CDK asks before it adds permissions, but there is no terminal to ask on. Add: npm run deploy -- --require-approval never',
    );
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  return deploy([...flags, ...(await flagsOfReservation(context))]);
};

// Empty if the deployer has set the reservation.
const flagsOfReservation = async (context: unknown): Promise<string[]> => {
  const { name, reservedConcurrency: setting, organizationConcurrency, deployments } = readConfig(context);
  if (setting === null) return [];
  const stacks = STACKS_WITH_FUNCTIONS.map((stack) => `${name}-${stack}`);
  const account = await readAccountConcurrency(stacks).catch((error: Error) => {
    throw new CannotDeploy(
      `Could not read the account's concurrency (${error.message}). Check your credentials and region; the permissions are lambda:GetAccountSettings, lambda:GetFunctionConcurrency and cloudformation:ListStackResources. With 'reservedConcurrency' null, this isn't needed.`,
    );
  });
  const { reservedConcurrency, notice } = decideReservation(setting, account);
  console.error(notice);
  if (setting) return [];
  const settings = settingsOf(context) as { deployments?: object };
  if (reservedConcurrency) return flagsOfSettings({ ...settings, reservedConcurrency });
  const shares = decideShares(account.limit, { organizationConcurrency, ...deployments });
  return flagsOfSettings({ ...settings, ...shares, reservedConcurrency, deployments: { ...settings.deployments, ...shares.deployments } });
};

// Returns the exit code of the CDK.
const deploy = async (flags: readonly string[]): Promise<number> => {
  const cdk = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
  const child = spawn(process.execPath, [cdk, 'deploy', '--all', ...flags], { cwd: ROOT, stdio: 'inherit' });
  const [code] = await once(child, 'close');
  return code ?? 1;
};

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
