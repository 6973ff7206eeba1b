import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { S3Client } from '@aws-sdk/client-s3';
import { createDatabase, type Database } from '../../shared/database/client.ts';
import { createKey } from '../../shared/keys/create-key.ts';
import { createLimiterStore } from '../../shared/limiters/limiter-store.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { balanceOf } from '../../shared/organizations/balance.ts';
import { createCreditStore } from '../../shared/organizations/credit-store.ts';
import { grantCredit } from '../../shared/organizations/grant-credit.ts';
import { limitOrganization } from '../../shared/organizations/limit-organization.ts';
import { dollarsOf } from '../../shared/prices/dollars.ts';
import { editedPrices } from '../../shared/prices/price.ts';
import { createRollupStore } from '../../shared/rollups/rollup-store.ts';
import type { TokenizerTexts } from '../../shared/tokens/loaded-tokenizer.ts';
import { readCommand, USAGE, UsageError } from './options.ts';
import { rebuildTotals } from './rebuild.ts';
import { uploadTokenizer } from './tokenizer-files.ts';

/** The physical name of a table or bucket: from the environment, else from the data stack's outputs. */
const physicalName = async (
  variable: 'KEYS_TABLE' | 'MODELS_TABLE' | 'USAGE_TABLE' | 'ACCOUNTS_TABLE' | 'TOKENIZERS_BUCKET',
  output: string,
  stack: string,
): Promise<string> => {
  const given = process.env[variable];
  if (given) return given;
  const { Stacks } = await new CloudFormationClient().send(new DescribeStacksCommand({ StackName: stack }));
  const name = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
  if (!name) throw new UsageError(`The stack ${stack} has no output ${output}. Deploy it, or name the stack with --stack.`);
  return name;
};

const upload = async (texts: TokenizerTexts, stack: string) =>
  uploadTokenizer(new S3Client(), await physicalName('TOKENIZERS_BUCKET', 'TokenizersBucket', stack), texts);

/** Where credit is granted, spent and held. */
const creditStores = async (database: Database, stack: string) => {
  const usageTable = await physicalName('USAGE_TABLE', 'UsageTable', stack);
  return {
    limiters: createLimiterStore(database, await physicalName('KEYS_TABLE', 'KeysTable', stack)),
    credit: createCreditStore(database, await physicalName('ACCOUNTS_TABLE', 'AccountsTable', stack)),
    rollups: createRollupStore(database, usageTable),
  };
};

const run = async (args: string[]): Promise<void> => {
  const task = readCommand(args, Date.now());
  const database = createDatabase();
  if (task.command === 'publish-model') {
    const store = createModelStore(database, await physicalName('MODELS_TABLE', 'ModelsTable', task.stack));
    const before = (await store.list(SERVERLESS_POOL)).get(task.model.name);
    const edited = editedPrices(before?.prices ?? [], task.model.prices);
    if (edited.length > 0)
      throw new UsageError(
        `Prices are never edited, because usage events name them: keep ${edited.join(', ')} as published and add a version.`,
      );
    // A model keeps its tokenizer when it is published again without one, as with a new price.
    const tokenizer = task.tokenizer ? await upload(task.tokenizer, task.stack) : (task.model.tokenizer ?? before?.tokenizer);
    await store.put(SERVERLESS_POOL, { ...task.model, ...(before && { created: before.created }), ...(tokenizer && { tokenizer }) });
    console.log(`Published ${task.model.name}. It can be called within 30 s.`);
  } else if (task.command === 'rebuild') {
    const keys = await physicalName('KEYS_TABLE', 'KeysTable', task.stack);
    const usage = await physicalName('USAGE_TABLE', 'UsageTable', task.stack);
    const report = await rebuildTotals(database, { keys, usage }, task.day);
    console.log(JSON.stringify(report, (_, value) => (typeof value === 'bigint' ? value.toString() : value), 2));
    if (report.drift.rows > 0) process.exitCode = 1;
  } else if (task.command === 'limit-organization') {
    const limiters = createLimiterStore(database, await physicalName('KEYS_TABLE', 'KeysTable', task.stack));
    const told = await limitOrganization(limiters, task.organization, task.limits);
    console.log(`${task.organization} has these limits; ${told.limiters} limiters of its keys were told.`);
  } else if (task.command === 'grant-credit') {
    const grant = await grantCredit(await creditStores(database, task.stack), task.grant);
    console.log(`Grant ${grant.number} of ${grant.organization}: $${dollarsOf(grant.amount_nanos)}.`);
  } else if (task.command === 'balance') {
    const balance = await balanceOf(await creditStores(database, task.stack), task.organization);
    console.log(JSON.stringify(balance, (_, value) => (typeof value === 'bigint' ? dollarsOf(value) : value), 2));
    if (balance.drift !== 0n) process.exitCode = 1;
  } else {
    const { key_id, secret } = await createKey(
      createLimiterStore(database, await physicalName('KEYS_TABLE', 'KeysTable', task.stack)),
      task.key,
    );
    console.log(`Created ${key_id}. Its secret is shown this once:\n${secret}`);
  }
};

try {
  await run(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) console.error(`${error.message}\n\n${USAGE}`);
  else console.error(error instanceof Error ? `${error.name}: ${error.message}` : error);
  process.exitCode = 1;
}
