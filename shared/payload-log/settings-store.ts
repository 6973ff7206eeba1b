import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { PayloadLogSettings } from './settings.ts';

/** Whose settings: an organization's, or those of one of its API keys. */
export interface SettingsOwner {
  organization: string;
  apiKey?: string | undefined;
}

const RECORD = 'payload-log';

const recordKeyOf = ({ organization, apiKey }: SettingsOwner): RecordKey => ({
  account: organization,
  record: apiKey === undefined ? RECORD : `${RECORD}#${apiKey}`,
});

/** The settings of payload logs in the table `Observability`. Reads are consistent. */
export const createPayloadLogStore = (table: RecordTable) => ({
  get: async (owner: SettingsOwner): Promise<PayloadLogSettings | undefined> => {
    const row = await table.get(recordKeyOf(owner));
    return row && PayloadLogSettings.parse(row);
  },

  /** The settings that apply to a key: its own, or else its organization's; undefined: neither has any. */
  ofKey: async (organization: string, apiKey: string): Promise<PayloadLogSettings | undefined> => {
    const rows = await table.getMany([recordKeyOf({ organization, apiKey }), recordKeyOf({ organization })]);
    return rows[0] && PayloadLogSettings.parse(rows[0]);
  },

  /**
   * Stores settings. @param before the version that was read: 412 if it has changed since; undefined: there was none
   */
  toSave: (owner: SettingsOwner, settings: Omit<PayloadLogSettings, 'version'>, before: number | undefined): Write =>
    table.toSave(recordKeyOf(owner), { ...settings, version: before ?? 0 }),

  /** Deletes the settings of a key that were read, so that its organization's apply: 412 if they have changed since. */
  toDelete: (owner: SettingsOwner & { apiKey: string }, version: number): Write => table.toDelete(recordKeyOf(owner), version),

  /** Deletes the settings of a key, if it has any: its id is given to another key. */
  toForget: (owner: SettingsOwner & { apiKey: string }): Write => table.toDelete(recordKeyOf(owner)),

  /** Checks that an organization's settings are those that were read. @param version 0: there were none */
  toCheck: (organization: string, version: number, refused: () => Error): Write =>
    table.toCheck(recordKeyOf({ organization }), {}, refused, { version }),

  /** Notes that all keys of an organization have this version of its settings, unless they were changed again. */
  complete: (organization: string, version: number): Promise<void> =>
    table.set(recordKeyOf({ organization }), 'pending', false, ['version', version]),
});

export type PayloadLogStore = ReturnType<typeof createPayloadLogStore>;
