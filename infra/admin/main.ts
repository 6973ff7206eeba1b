import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { createDatabase } from '../../shared/database/client.ts';
import { createKey } from '../../shared/keys/create-key.ts';
import { createLimiterStore } from '../../shared/keys/limiter-store.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { editedPrices } from '../../shared/prices/price.ts';
import { readCommand, USAGE, UsageError } from './options.ts';

/** The physical name of a table: from the environment, else from the data stack's outputs. */
const tableOf = async (variable: 'KEYS_TABLE' | 'MODELS_TABLE', output: string, stack: string): Promise<string> => {
  const given = process.env[variable];
  if (given) return given;
  const { Stacks } = await new CloudFormationClient().send(new DescribeStacksCommand({ StackName: stack }));
  const name = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
  if (!name) throw new UsageError(`The stack ${stack} has no output ${output}. Deploy it, or name the stack with --stack.`);
  return name;
};

const run = async (args: string[]): Promise<void> => {
  const task = readCommand(args, Date.now());
  const database = createDatabase();
  if (task.command === 'publish-model') {
    const store = createModelStore(database, await tableOf('MODELS_TABLE', 'ModelsTable', task.stack));
    const before = (await store.list(SERVERLESS_POOL)).get(task.model.name);
    const edited = editedPrices(before?.prices ?? [], task.model.prices);
    if (edited.length > 0)
      throw new UsageError(
        `Prices are never edited, because usage events name them: keep ${edited.join(', ')} as published and add a version.`,
      );
    await store.put(SERVERLESS_POOL, { ...task.model, ...(before && { created: before.created }) });
    console.log(`Published ${task.model.name}. It can be called within 30 s.`);
  } else {
    const { key_id, secret } = await createKey(
      createLimiterStore(database, await tableOf('KEYS_TABLE', 'KeysTable', task.stack)),
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
