import * as z from 'zod';
import type { Need } from '../evaluate.ts';
import { arnOf, NO_CONTEXT, operationOf, type ToNeeds, unknown } from './arn.ts';

const Input = z.object({
  TableName: z.string().optional(),
  IndexName: z.string().optional(),
  RequestItems: z.record(z.string(), z.unknown()).optional(),
  TransactItems: z.array(z.record(z.string(), z.object({ TableName: z.string() }))).optional(),
});

// Actions have the same names.
const OPERATIONS_ON_ONE_TABLE = new Set(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan']);
// Each part of a transaction is an action of its own.
const ACTIONS_OF_PARTS: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
  Get: 'GetItem',
};

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html */
export const dynamodbNeeds: ToNeeds = (call) => {
  const operation = operationOf(call);
  const { TableName, IndexName, RequestItems, TransactItems } = Input.parse(JSON.parse(call.body.toString()));
  const need = (action: string, table: string, context: Need['context'] = NO_CONTEXT): Need => ({
    action: `dynamodb:${action}`,
    resource: arnOf('dynamodb', call.region, `table/${table}`),
    context,
  });
  if (OPERATIONS_ON_ONE_TABLE.has(operation) && TableName !== undefined)
    return [need(operation, IndexName === undefined ? TableName : `${TableName}/index/${IndexName}`)];
  if (operation === 'BatchGetItem' || operation === 'BatchWriteItem')
    return Object.keys(RequestItems ?? {}).map((table) => need(operation, table));
  if (!operation.startsWith('Transact')) return unknown('DynamoDB', operation);
  const context = { 'dynamodb:EnclosingOperation': [operation] };
  return (TransactItems ?? []).flatMap((part) =>
    Object.entries(part).map(([kind, { TableName: table }]) => need(ACTIONS_OF_PARTS[kind] ?? unknown('DynamoDB', kind), table, context)),
  );
};
