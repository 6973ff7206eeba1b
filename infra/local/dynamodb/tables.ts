import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  type TableDescription,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import type { KeyElement, Table } from '../../assembly/local-app.ts';
import { REGION } from '../../assembly/resolve.ts';

/** The same table without its stream. */
export const withoutStream = (table: Table): Table => ({ ...table, properties: { ...table.properties, streamViewType: undefined } });

/**
 * Creates missing tables with their indexes, streams and time to live.
 * @param url the DynamoDB endpoint
 * @returns the names of all tables by logical id
 * @throws Error naming an existing table whose keys or indexes differ from the template
 */
export const createTables = async (url: string, tables: readonly Table[]): Promise<Record<string, string>> => {
  const client = new DynamoDBClient({ endpoint: url, region: REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });
  try {
    await Promise.all(tables.map((table) => createTable(client, table)));
  } finally {
    client.destroy();
  }
  return Object.fromEntries(tables.map(({ logicalId, name }) => [logicalId, name]));
};

const createTable = async (client: DynamoDBClient, table: Table): Promise<void> => {
  const wanted = toInput(table);
  if (!(await isCreated(client, wanted))) return update(client, table, wanted);
  const { timeToLiveAttribute } = table.properties;
  if (timeToLiveAttribute === undefined) return;
  await client.send(
    new UpdateTimeToLiveCommand({ TableName: table.name, TimeToLiveSpecification: { AttributeName: timeToLiveAttribute, Enabled: true } }),
  );
};

// False if the table exists.
const isCreated = async (client: DynamoDBClient, wanted: CreateTableCommandInput): Promise<boolean> => {
  try {
    await client.send(new CreateTableCommand(wanted));
    return true;
  } catch (error) {
    if (error instanceof ResourceInUseException) return false;
    throw error;
  }
};

const update = async (client: DynamoDBClient, { name }: Table, wanted: CreateTableCommandInput): Promise<void> => {
  const { Table: present } = await client.send(new DescribeTableCommand({ TableName: name }));
  if (present && schemaOf(present) === schemaOf(wanted)) return startStream(client, present, wanted);
  throw new Error(`The keys or indexes of table ${name} differ from the template. Use another --state folder, or delete its database.`);
};

// An earlier version of the table may not have had a stream.
const startStream = async (client: DynamoDBClient, present: TableDescription, wanted: CreateTableCommandInput): Promise<void> => {
  const { TableName, StreamSpecification } = wanted;
  if (!StreamSpecification || present.StreamSpecification?.StreamEnabled) return;
  await client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
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
