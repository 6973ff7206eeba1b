import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { S3Client } from '@aws-sdk/client-s3';
import { createDatabase } from '../../shared/database/client.ts';
import { createKey } from '../../shared/keys/create-key.ts';
import { createLimiterStore } from '../../shared/keys/limiter-store.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { editedPrices } from '../../shared/prices/price.ts';
import type { TokenizerTexts } from '../../shared/tokens/loaded-tokenizer.ts';
import { readCommand, USAGE, UsageError } from './options.ts';
import { uploadTokenizer } from './tokenizer-files.ts';

/** The physical name of a table or bucket: from the environment, else from the data stack's outputs. */
const physicalName = async (
  variable: 'KEYS_TABLE' | 'MODELS_TABLE' | 'TOKENIZERS_BUCKET',
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
