import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Database, isConditionFailed } from '../database/client.ts';
import { MAX_VALUES, measureJson } from '../http/json-size.ts';
import { randomBase62 } from '../ids/base62.ts';
import type { Item } from './item.ts';
import type { ResponseObject } from './output-item.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** How long a response can be read and continued. */
export const KEPT_DAYS = 30;
/** An item of DynamoDB holds 400 kB, names and keys included. */
const MAX_STORED_BYTES = 390_000;
/** What is opened again, however small it was, has to fit beside a request as large as it in a function of 256 MB: together they take 200 MB. */
const MAX_OPENED_BYTES = 4 * 1024 * 1024;

/** A deletion is remembered longer than any response is on its way. */
const DELETION_SECONDS = 15 * 60;
/** Which deletion it was: it knows its own mark where a lost reply had it sent again. */
const MARK_CHARACTERS = 18;
const IS_NOT_DELETED = 'attribute_not_exists(deleted_by)';

/** A response with what it answers: its own input, and the conversation before it. */
export interface StoredResponse {
  response: ResponseObject;
  input: readonly Item[];
  before: readonly Item[];
  /** How many responses the conversation has, this one included. */
  depth: number;
}

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** What an id of ours looks like; nothing else is asked for. */
const FORM = /^resp_[0-9A-Za-z]{1,64}$/;

const isSmall = (text: string): boolean =>
  text.length <= MAX_OPENED_BYTES && Buffer.byteLength(text) <= MAX_OPENED_BYTES && measureJson(text).values <= MAX_VALUES;

/** An organization's own key: another's id leads nowhere. */
const keyOf = (organization: string, id: string) => ({ id: `${organization}#${id}` });

/**
 * The responses in the table of their name. The only code that knows their attributes. DynamoDB removes an item some time after it has expired, so an item's time
 * counts from the first moment.
 * @param now milliseconds since the epoch
 */
export const createResponseStore = (database: Database, table: string, now: () => number) => {
  const nowSeconds = (): number => Math.floor(now() / 1_000);
  return {
    /** Keeps a response for 30 days, unless it is too large, or was deleted while it was made. */
    put: async (organization: string, stored: StoredResponse): Promise<'kept' | 'too_large' | 'deleted'> => {
      const text = JSON.stringify(stored);
      if (!isSmall(text)) return 'too_large';
      const content = await pack(text);
      if (content.byteLength > MAX_STORED_BYTES) return 'too_large';
      const expires_at = nowSeconds() + KEPT_DAYS * DAY_SECONDS;
      const Item = { ...keyOf(organization, stored.response.id), expires_at, content };
      try {
        await database.send(new PutCommand({ TableName: table, Item, ConditionExpression: IS_NOT_DELETED }));
        return 'kept';
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
        return 'deleted';
      }
    },

    /** The response, or undefined where there is none of this id, or none any more. */
    get: async (organization: string, id: string): Promise<StoredResponse | undefined> => {
      if (!FORM.test(id)) return undefined;
      const { Item } = await database.send(new GetCommand({ TableName: table, Key: keyOf(organization, id), ConsistentRead: true }));
      if (!Item?.content || Item.expires_at <= nowSeconds()) return undefined;
      const text = await unpack(Item.content as Uint8Array, { maxOutputLength: MAX_OPENED_BYTES });
      return JSON.parse(text.toString()) as StoredResponse;
    },

    /**
     * Deletes a response, and one that is still being made: where there is none yet, none of this id will be kept.
     * @returns whether there was one. Where a reply was lost and what was there is not known any more, there was.
     */
    delete: async (organization: string, id: string): Promise<boolean> => {
      if (!FORM.test(id)) return false;
      const deleted_by = randomBase62(MARK_CHARACTERS);
      const Item = { ...keyOf(organization, id), expires_at: nowSeconds() + DELETION_SECONDS, deleted_by };
      const { Attributes: old } = await database.send(new PutCommand({ TableName: table, Item, ReturnValues: 'ALL_OLD' }));
      return old !== undefined && (old.deleted_by === deleted_by || (old.content !== undefined && old.expires_at > nowSeconds()));
    },
  };
};

export type ResponseStore = ReturnType<typeof createResponseStore>;
