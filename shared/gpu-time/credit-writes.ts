import type { Write } from '../database/transaction.ts';
import { PreconditionFailed } from '../http/errors.ts';
import type { Draw } from './credit.ts';

/** The credit that was about to be taken was used in the meantime. Nothing was written. */
export class CreditChanged extends PreconditionFailed {}

/**
 * The writes that take credit from shards for something other than a request, if each has it and still pays from
 * credit. @throws CreditChanged
 */
export const toTakeCredit = (table: string, draws: readonly Draw[]): Write[] =>
  draws.map(({ id, nanos }) => ({
    item: {
      Update: {
        TableName: table,
        Key: { id },
        UpdateExpression: 'SET avail = avail - :nanos',
        ConditionExpression: 'prepaid = :true AND avail >= :nanos',
        ExpressionAttributeValues: { ':true': true, ':nanos': nanos },
      },
    },
    refused: () => new CreditChanged(),
  }));
