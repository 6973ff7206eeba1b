import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Database } from '../database/database.ts';
import { isWritten } from '../database/is-written.ts';
import { MAX_VALUES, measureJson } from '../http/json/json-size.ts';
import { randomBase62 } from '../ids/base62.ts';
import { DAY_SECONDS, unixSeconds } from '../time/units.ts';
import type { ConversationItem } from './item.ts';
import type { ResponseObject } from './output-item.ts';

/** The time in which a response can be read and continued. */
export const KEPT_DAYS = 30;
// Compressed. A DynamoDB item can have 400 kB, including attribute names and keys.
const MAX_STORED_BYTES = 390_000;
// Uncompressed. A stored response and a request that continues it must fit into a function's memory.
const MAX_OPENED_BYTES = 4 * 1024 * 1024;

// A deletion is recorded for longer than any response can be in progress.
const DELETION_SECONDS = 15 * 60;
// A deletion recognizes its own write by a random mark if the client sends it twice.
const MARK_CHARACTERS = 18;
const IS_NOT_DELETED = 'attribute_not_exists(deleted_by)';

/** A response with its input and the conversation before it. */
export interface StoredResponse {
  response: ResponseObject;
  input: readonly ConversationItem[];
  before: readonly ConversationItem[];
  /** The number of responses in the conversation, including this one. */
  depth: number;
}

const pack = promisify(gzip);
const unpack = promisify(gunzip);

// Other ids are not looked up.
const RESPONSE_ID = /^resp_[0-9A-Za-z]{1,64}$/;

const isSmall = (text: string, maxCharacters: number): boolean =>
  text.length <= maxCharacters && Buffer.byteLength(text) <= MAX_OPENED_BYTES && measureJson(text).values <= MAX_VALUES;

// The key includes the organization, so that another organization's id finds nothing.
const keyOf = (organization: string, id: string) => ({ id: `${organization}#${id}` });

/** An item of the table is a response of this organization, or the result of one's request. */
export const isResponseOf = (organization: string, itemId: string): boolean => itemId.startsWith(keyOf(organization, '').id);

/**
 * The id of the item with the result of the response's request under its idempotency key. It is deleted with the
 * response.
 */
export const resultIdOf = (organization: string, id: string): string => `${organization}#${id}#result`;

/**
 * The responses in the table `responses`. The only code that knows their attributes. DynamoDB removes expired items
 * late, so reads check the expiry.
 * @param now milliseconds since the epoch
 */
export const createResponseStore = (database: Database, table: string, now: () => number) => {
  const nowSeconds = (): number => unixSeconds(now());
  return {
    /**
     * Stores a response for 30 days, unless it is too large, or was deleted while it was in progress.
     * @param maxCharacters for which the function that continues it has memory, uncompressed
     */
    put: async (
      organization: string,
      stored: StoredResponse,
      maxCharacters = MAX_OPENED_BYTES,
    ): Promise<'stored' | 'too_large' | 'deleted'> => {
      const text = JSON.stringify(stored);
      if (!isSmall(text, maxCharacters)) return 'too_large';
      const content = await pack(text);
      if (content.byteLength > MAX_STORED_BYTES) return 'too_large';
      const expires_at = nowSeconds() + KEPT_DAYS * DAY_SECONDS;
      const Item = { ...keyOf(organization, stored.response.id), expires_at, content };
      return (await isWritten(database.put({ TableName: table, Item, ConditionExpression: IS_NOT_DELETED }))) ? 'stored' : 'deleted';
    },

    /**
     * The response; undefined if it does not exist or has expired.
     * @param onBytes is called with its size before it is parsed, and can throw
     */
    get: async (
      organization: string,
      id: string,
      onBytes: (bytes: number) => void = () => undefined,
    ): Promise<StoredResponse | undefined> => {
      if (!RESPONSE_ID.test(id)) return undefined;
      const { Item } = await database.get({ TableName: table, Key: keyOf(organization, id), ConsistentRead: true });
      if (!Item?.content || Number(Item.expires_at) <= nowSeconds()) return undefined;
      const text = await unpack(Item.content as Uint8Array, { maxOutputLength: MAX_OPENED_BYTES });
      onBytes(text.length);
      return JSON.parse(text.toString()) as StoredResponse;
    },

    /**
     * Deletes a response and its stored result, so that nothing of it can be replayed under an idempotency key. A
     * response that is still in progress will not be stored. The result is deleted first: if the second write fails,
     * the response still exists and can be deleted again.
     * @returns whether it existed; also true if the database's reply was lost and the client sent the write again
     */
    delete: async (organization: string, id: string): Promise<boolean> => {
      if (!RESPONSE_ID.test(id)) return false;
      const deleted_by = randomBase62(MARK_CHARACTERS);
      const deletion = { expires_at: nowSeconds() + DELETION_SECONDS, deleted_by };
      await database.put({ TableName: table, Item: { id: resultIdOf(organization, id), ...deletion } });
      const Item = { ...keyOf(organization, id), ...deletion };
      const { Attributes: old } = await database.put({ TableName: table, Item, ReturnValues: 'ALL_OLD' });
      return old !== undefined && (old.deleted_by === deleted_by || (old.content !== undefined && Number(old.expires_at) > nowSeconds()));
    },
  };
};

export type ResponseStore = ReturnType<typeof createResponseStore>;
