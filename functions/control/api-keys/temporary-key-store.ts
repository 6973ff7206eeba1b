import type { RecordKey, RecordTable } from '../../../shared/database/record-table.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Conflict } from '../../../shared/http/errors.ts';
import type { StoredApiKey } from './api-key.ts';

/**
 * The temporary keys of a creator for one use, such as the playground. When a key of a series has ended, its id is
 * given to the next one, because bills, exports and totals find events by the ids of keys: those must stay few.
 */
export interface KeySeries {
  creator: string;
  organization: string;
  /** `playground`, or the id of a federation rule. */
  name: string;
}

interface SeriesPlace {
  id: string;
  /** Unix time in seconds; 0 if it was revoked. */
  endsAt: number;
}

/** The series of a temporary key; undefined for other keys. */
export const seriesOf = ({ created_by: creator, organization, series: name }: StoredApiKey): KeySeries | undefined =>
  name === undefined ? undefined : { creator, organization, name };

const ANY_ROW = 'temporary-key';
const PLACE = `${ANY_ROW}#`;
const prefixOf = ({ organization, name }: KeySeries): string => `${PLACE}${organization}#${name}#`;
const placeRecordKey = (series: KeySeries, id: string): RecordKey => ({ account: series.creator, record: prefixOf(series) + id });
const countRecordKey = ({ creator, organization, name }: KeySeries): RecordKey => ({
  account: creator,
  record: `${ANY_ROW}s#${organization}#${name}`,
});

// As many as other keys: a bill reads each of them.
const MAX_IN_TOTAL = 10_000;
const totalRecordKey = (organization: string): RecordKey => ({ account: organization, record: 'temporary-keys' });

const tooManyInTotal = (): Conflict =>
  new Conflict({
    code: 'too_many_keys',
    message: `An organization can have at most ${MAX_IN_TOTAL} different temporary API keys. Use an API key that you create once instead.`,
  });

const toPlace = ({ record, ends_at }: Record<string, unknown>): SeriesPlace & Pick<KeySeries, 'name'> => {
  const [, , name = '', id = ''] = String(record).split('#');
  return { id, name, endsAt: Number(ends_at) };
};

/** The series of temporary keys in the `accounts` table, in the partition of their creator. */
export const createTemporaryKeyStore = (table: RecordTable) => ({
  /** Lists the keys of a series, at most `max`. */
  list: async (series: KeySeries, max: number): Promise<SeriesPlace[]> => {
    const { rows } = await table.page({ account: series.creator, prefix: prefixOf(series) }, { limit: max });
    return rows.map(toPlace);
  },

  /** Lists the keys of all series of a creator, with the names of their series. */
  listOf: async function* (creator: string): AsyncGenerator<SeriesPlace & Pick<KeySeries, 'name'>> {
    for await (const row of table.all({ account: creator, prefix: PLACE })) yield toPlace(row);
  },

  /** Adds a new key to a series, up to a maximum. */
  toAdd: (series: KeySeries, { id, endsAt }: SeriesPlace, { max, refused }: { max: number; refused: () => Error }): Write[] => [
    table.toCreate(placeRecordKey(series, id), { ends_at: endsAt }, () => new Error(`${id} already exists.`)),
    table.toCount(countRecordKey(series), 1, max, refused),
    table.toCount(totalRecordKey(series.organization), 1, MAX_IN_TOTAL, tooManyInTotal),
  ],

  /** Forgets the series of a creator, of whom no more keys are created, or one of them. Their keys stay. */
  forget: async (creator: string, series?: string): Promise<void> => {
    for await (const row of table.all({ account: creator, prefix: ANY_ROW })) {
      const record = String(row.record);
      if (series === undefined || record.split('#')[2] === series) await table.remove({ account: creator, record });
    }
  },

  /** Sets the end of a key of a series. */
  toSet: (series: KeySeries, { id, endsAt }: SeriesPlace): Write => table.toPut(placeRecordKey(series, id), { ends_at: endsAt }),
});
