import * as z from 'zod';

/** The metadata of a table in the template with the name of the table that is used instead. */
export const ADOPTED = 'sluice:adopted';

const DATA_TABLES = [
  'keys',
  'models',
  'deployments',
  'usage',
  'responses',
  'accounts',
  'attempts',
  'audit',
  'billing',
  'notifications',
  'observability',
  'tickets',
] as const;
const STREAMED_TABLES = ['usage', 'notifications'] as const;

const STREAM = /^arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/[\w.-]{3,255}\/stream\/[\w:.-]{1,40}$/;

// With the stream of another table, functions would read its changes and miss those of this one.
const isOfTable = ({ name, streamArn }: { name: string; streamArn?: string | undefined }): boolean =>
  streamArn === undefined || streamArn.split('/')[1] === name;

const AdoptedTable = z
  .strictObject({
    name: z.string().regex(/^[\w.-]{3,255}$/, 'expected the name of a table'),
    /** The ARN of its latest stream, for a table that has one. */
    streamArn: z.string().regex(STREAM, 'expected the ARN of a stream of a table, such as its LatestStreamArn').optional(),
  })
  .refine(isOfTable, { path: ['streamArn'], message: 'expected the ARN of a stream of this table, such as its LatestStreamArn' });

/** Tables that are used instead of those of the data stack, by the field of the data stack. */
export const AdoptedTables = z
  .partialRecord(z.enum(DATA_TABLES), AdoptedTable)
  .refine((tables) => STREAMED_TABLES.every((table) => !tables[table] || tables[table].streamArn !== undefined), {
    message: `expected the streamArn of ${STREAMED_TABLES.join(' and ')}, whose streams functions read`,
  });
