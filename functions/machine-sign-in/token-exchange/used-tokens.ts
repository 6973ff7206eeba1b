import { randomUUID } from 'node:crypto';
import type { Database } from '../../../shared/database/database.ts';
import { isWritten } from '../../../shared/database/is-written.ts';
import { acceptableUntil, type IdentityClaims } from '../../../shared/federation/claim-fault.ts';
import { hashOf, rowId } from '../../../shared/quotas/row-id.ts';

// Some signatures can be changed to others of the same text, so the id of a token leaves its signature out.
const idOf = (token: string, { iss, jti }: IdentityClaims): string => {
  const isNamed = typeof jti === 'string' && jti !== '';
  return rowId('used-token', hashOf(isNamed ? `${iss}\n${jti}` : token.slice(0, token.lastIndexOf('.'))));
};

/** The tokens that were exchanged, by hash, in the table `attempts` until they end. */
export const createUsedTokens = (database: Pick<Database, 'put' | 'delete'>, table: string) => ({
  /** Marks a verified token as used; undefined if it was used before. The result makes it usable again. */
  use: async (token: string, claims: IdentityClaims): Promise<(() => Promise<void>) | undefined> => {
    const [id, use] = [idOf(token, claims), randomUUID()];
    const isFirst = await isWritten(
      database.put({
        TableName: table,
        Item: { id, use, expires_at: acceptableUntil(claims) },
        ConditionExpression: 'attribute_not_exists(id)',
      }),
    );
    if (!isFirst) return undefined;
    return async () => {
      await isWritten(
        database.delete({
          TableName: table,
          Key: { id },
          ConditionExpression: '#use = :use',
          ExpressionAttributeNames: { '#use': 'use' },
          ExpressionAttributeValues: { ':use': use },
        }),
      );
    };
  },
});

export type UsedTokens = ReturnType<typeof createUsedTokens>;
