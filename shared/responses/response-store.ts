import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Database, isConditionFailed } from '../database/client.ts';
import type { Item } from './item.ts';
import type { ResponseObject } from './response.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** How long a response can be read and continued. */
export const KEPT_DAYS = 30;
/** An item of DynamoDB holds 400 kB, names and keys included. */
const MAX_STORED_BYTES = 390_000;
/** What is opened again has to fit beside everything else in a small function. */
const MAX_OPENED_BYTES = 16 * 1024 * 1024;

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

/** An organization's own key: another's id leads nowhere. */
const keyOf = (organization: string, id: string) => ({ id: `${organization}#${id}` });

/**
 * The `responses` table. The only code that knows its attributes. DynamoDB removes an item some time after it has expired, so an item's time
 * counts from the first moment.
 * @param now milliseconds since the epoch
 */
export const createResponseStore = (database: Database, table: string, now: () => number) => {
  const nowSeconds = (): number => Math.floor(now() / 1_000);
  return {
    /** Keeps a response for 30 days; false where it is too large to be kept. */
    put: async (organization: string, stored: StoredResponse): Promise<boolean> => {
      const text = JSON.stringify(stored);
      if (text.length > MAX_OPENED_BYTES || Buffer.byteLength(text) > MAX_OPENED_BYTES) return false;
      const content = await pack(text);
      if (content.byteLength > MAX_STORED_BYTES) return false;
      const expires_at = nowSeconds() + KEPT_DAYS * DAY_SECONDS;
      await database.send(new PutCommand({ TableName: table, Item: { ...keyOf(organization, stored.response.id), expires_at, content } }));
      return true;
    },

    /** The response, or undefined where there is none of this id, or none any more. */
    get: async (organization: string, id: string): Promise<StoredResponse | undefined> => {
      if (!FORM.test(id)) return undefined;
      const { Item } = await database.send(new GetCommand({ TableName: table, Key: keyOf(organization, id), ConsistentRead: true }));
      if (!Item || Item.expires_at <= nowSeconds()) return undefined;
      const text = await unpack(Item.content as Uint8Array, { maxOutputLength: MAX_OPENED_BYTES });
      return JSON.parse(text.toString()) as StoredResponse;
    },

    /** Whether there was something to delete. */
    delete: async (organization: string, id: string): Promise<boolean> => {
      if (!FORM.test(id)) return false;
      try {
        await database.send(
          new DeleteCommand({
            TableName: table,
            Key: keyOf(organization, id),
            ConditionExpression: 'expires_at > :now', // there, and not expired
            ExpressionAttributeValues: { ':now': nowSeconds() },
          }),
        );
        return true;
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
        return false;
      }
    },
  };
};

export type ResponseStore = ReturnType<typeof createResponseStore>;
