import type { Database } from '../../shared/database/database.ts';
import { validate } from '../../shared/http/validate.ts';
import { chatCompletions } from './chat/route.ts';

// The fields that most requests have.
const CHAT = {
  model: 'none',
  messages: [
    { role: 'system', content: 'Hello' },
    { role: 'user', content: 'Hello' },
  ],
  max_tokens: 1,
  temperature: 0,
  stream: true,
};
const NO_KEY = 'warm-up';

/**
 * Runs what a first chat needs, and no caller has to wait for: the schema of its body, and a call of DynamoDB, which
 * opens the connection. Lambda gives a function a whole core until it has started, and then the share of its memory.
 * Never throws.
 * @param database that does not retry; undefined if it can't be called yet
 */
export const warmUp = async (database: Database | undefined, keysTable: string): Promise<void> => {
  validate(chatCompletions.schema, CHAT);
  // The first request finds out if the database fails.
  await database?.get({ TableName: keysTable, Key: { id: NO_KEY } }).catch(() => undefined);
};
