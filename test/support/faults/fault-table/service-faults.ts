import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { createPayloadLogStore } from '../../../../shared/payload-log/settings-store.ts';
import { DATABASE_FAULTS } from './database-faults.ts';
import { inventory, READERS, SMALL_WINDOW_TOKENS } from './inventory-faults.ts';
import type { FaultyRun, TableFault } from './table-fault.ts';

const DELAY_MS = 3_000;

// The requests have prompts that must be counted from the tokenizer's files.
const readingFiles = (name: string, outage: object, metered: TableFault['metered']): TableFault => {
  const smallWindow = inventory(name, (model) => ({ ...model, context_length: SMALL_WINDOW_TOKENS }), { metered });
  return {
    ...smallWindow,
    emulator: 's3',
    coldFunctions: [...READERS, 'tokenizer'],
    // An environment of the tokenizer remembers for five seconds that it could not read the files.
    staleFunctions: [...READERS, 'tokenizer'],
    begin: async (faulty) => {
      await smallWindow.begin(faulty);
      await faulty.run.control('s3', { method: 'GET', ...outage });
    },
  };
};

const logPayloads = async ({ database, tables }: FaultyRun['run']): Promise<void> => {
  const store = createPayloadLogStore(createRecordTable(database, tables.Observability as string));
  const owner = { organization: 'org_test' };
  const settings: Parameters<typeof store.toSave>[1] = {
    enabled: true,
    retention_days: 1,
    patterns: [],
    paths: [],
    tool_arguments: 'redact',
    updated_at: 0,
    updated_by: 'usr_1',
    pending: false,
  };
  await transact(database, [store.toSave(owner, settings, (await store.get(owner))?.version)]);
};

// The content of the requests is logged.
const writingPayloads = (name: string, outage: object): TableFault => ({
  name,
  emulator: 's3',
  metered: 'succeeds',
  keys: { payload_log: true },
  begin: async ({ run }) => {
    await logPayloads(run);
    await run.control('s3', { method: 'PUT', ...outage });
  },
});

const settling = DATABASE_FAULTS.find(({ name }) => name === 'DynamoDB fails for the table `usage`') as TableFault;

/** Faults of S3 and SQS. */
export const SERVICE_FAULTS: readonly TableFault[] = [
  readingFiles("S3 fails when the tokenizer's files are read", { kind: 'unavailable' }, 'either'),
  readingFiles("S3 refuses connections when the tokenizer's files are read", { kind: 'refuse' }, 'either'),
  readingFiles("S3 is slow when the tokenizer's files are read", { delay_ms: DELAY_MS }, 'succeeds'),
  writingPayloads('S3 fails when payloads are logged', { kind: 'unavailable' }),
  writingPayloads('S3 is slow when payloads are logged', { delay_ms: DELAY_MS }),
  { name: 'SQS fails', metered: 'succeeds', begin: ({ run }) => run.control('sqs', { kind: 'unavailable' }) },
  {
    ...settling,
    name: 'SQS fails, and DynamoDB for the table `usage`',
    emulator: 'sqs',
    isSwept: true,
    begin: async (faulty) => {
      await settling.begin(faulty);
      await faulty.run.control('sqs', { kind: 'unavailable' });
    },
  },
];
