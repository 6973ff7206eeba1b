import type { CreateTableCommandInput, TableDescription } from '@aws-sdk/client-dynamodb';
import type { KeyElement, Table } from '../../assembly/local-app.ts';
import { type CallDatabase, createDatabaseCalls } from './database-calls.ts';

// The emulator of a busy machine can take seconds for a table.
const SILENCE_MS = 60_000;

/** The same table without its stream. */
export const withoutStream = (table: Table): Table => ({ ...table, properties: { ...table.properties, streamViewType: undefined } });

/**
 * Creates missing tables with their indexes, streams and time to live.
 * @param url the DynamoDB endpoint
 * @returns the names of all tables by logical id
 * @throws Error naming an existing table whose keys or indexes differ from the template
 */
export const createTables = async (url: string, tables: readonly Table[]): Promise<Record<string, string>> => {
  const call = createDatabaseCalls(url, SILENCE_MS);
  await Promise.all(tables.map((table) => createTable(call, table)));
  return Object.fromEntries(tables.map(({ logicalId, name }) => [logicalId, name]));
};

const createTable = async (call: CallDatabase, table: Table): Promise<void> => {
  const wanted = toInput(table);
  if (!(await isCreated(call, wanted))) return update(call, table, wanted);
  const { timeToLiveAttribute } = table.properties;
  if (timeToLiveAttribute === undefined) return;
  await call('UpdateTimeToLive', { TableName: table.name, TimeToLiveSpecification: { AttributeName: timeToLiveAttribute, Enabled: true } });
};

// False if the table exists.
const isCreated = async (call: CallDatabase, wanted: CreateTableCommandInput): Promise<boolean> => {
  try {
    await call('CreateTable', wanted);
    return true;
  } catch (error) {
    if ((error as Error).name === 'ResourceInUseException') return false;
    throw error;
  }
};

const update = async (call: CallDatabase, { name }: Table, wanted: CreateTableCommandInput): Promise<void> => {
  const { Table: present } = await call<{ Table?: TableDescription }>('DescribeTable', { TableName: name });
  if (present && schemaOf(present) === schemaOf(wanted)) return startStream(call, present, wanted);
  throw new Error(`The keys or indexes of table ${name} differ from the template. Use another --state folder, or delete its database.`);
};

// An earlier version of the table may not have had a stream.
const startStream = async (call: CallDatabase, present: TableDescription, wanted: CreateTableCommandInput): Promise<void> => {
  const { TableName, StreamSpecification } = wanted;
  if (!StreamSpecification || present.StreamSpecification?.StreamEnabled) return;
  await call('UpdateTable', { TableName, StreamSpecification });
};

const toInput = ({ name, properties }: Table): CreateTableCommandInput => ({
  TableName: name,
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: toKeySchema(properties.keySchema),
  AttributeDefinitions: properties.attributes.map((attribute) => ({ AttributeName: attribute.name, AttributeType: attribute.type })),
  ...(properties.indexes.length > 0 && {
    GlobalSecondaryIndexes: properties.indexes.map((index) => ({
      IndexName: index.name,
      KeySchema: toKeySchema(index.keySchema),
      Projection: {
        ProjectionType: index.projection,
        ...(index.projection === 'INCLUDE' && { NonKeyAttributes: [...index.projectedAttributes] }),
      },
    })),
  }),
  ...(properties.streamViewType && { StreamSpecification: { StreamEnabled: true, StreamViewType: properties.streamViewType } }),
});

const toKeySchema = (keys: readonly KeyElement[]): NonNullable<CreateTableCommandInput['KeySchema']> =>
  keys.map((key) => ({ AttributeName: key.name, KeyType: key.role }));

// As comparable text; the local run does not change keys and indexes of an existing table.
const schemaOf = ({ KeySchema, GlobalSecondaryIndexes }: Pick<TableDescription, 'KeySchema' | 'GlobalSecondaryIndexes'>): string => {
  const keys = (schema: TableDescription['KeySchema']) =>
    schema?.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`).join(', ');
  const indexes = (GlobalSecondaryIndexes ?? []).map(
    (index) => `${index.IndexName}: ${keys(index.KeySchema)} ${index.Projection?.ProjectionType}`,
  );
  return [keys(KeySchema), ...indexes.sort()].join('; ');
};
