import type { TransactItem } from '../../../shared/database/database.ts';

/** The write that returns credit to an organization's own item, even if it no longer pays from credit. */
export const toReturnCredit = (table: string, id: string, nanos: bigint): TransactItem => ({
  Update: {
    TableName: table,
    Key: { id },
    UpdateExpression: 'SET avail = avail + :nanos',
    ConditionExpression: 'attribute_exists(avail)',
    ExpressionAttributeValues: { ':nanos': nanos },
  },
});
