import * as z from 'zod';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { DAY_MS, SECOND_MS } from '../time/units.ts';

const DAYS_BEFORE = 14;
// How long before its end a secret's organization is notified.
const NOTICE_SECONDS = (DAYS_BEFORE * DAY_MS) / SECOND_MS;

/** A secret of which an organization is notified before it expires. */
export const SecretExpiry = z.object({
  organization: z.string(),
  service_account: z.string(),
  secret: z.string(),
  /** Unix time in seconds. */
  expires_at: z.int(),
});
export type SecretExpiry = z.infer<typeof SecretExpiry>;

// The partition of all secrets whose organization is to be notified, in the order of their ends.
const EXPIRIES = 'secret-expiries';
const PREFIX = 'secret#';
const SECONDS_DIGITS = 12;
const ROWS_PER_PAGE = 100;
const MAX_PAGES = 100;

const placeOf = ({ expires_at, service_account, secret }: Omit<SecretExpiry, 'organization'>): RecordKey => ({
  account: EXPIRIES,
  record: `${PREFIX}${String(expires_at).padStart(SECONDS_DIGITS, '0')}#${service_account}#${secret}`,
});

/** Tells if a row of the table `accounts` announces the end of a secret of one of these service accounts. */
export const isExpiryOf = (accounts: ReadonlySet<string>, { account, record }: Record<string, unknown>): boolean =>
  account === EXPIRIES && accounts.has(String(record).split('#')[2] ?? '');

/** The secrets of service accounts whose organization is to be notified of their end. */
export const createSecretExpiries = (table: RecordTable) => ({
  /**
   * Announces the end of a new secret. A secret that lives no longer than the notice has none: a program that replaces
   * secrets when it is notified would replace it at once.
   * @param created Unix time in seconds
   */
  toAnnounce: (expiry: SecretExpiry, created: number): Write[] =>
    expiry.expires_at - created <= NOTICE_SECONDS ? [] : [table.toPut(placeOf(expiry), { ...expiry, version: 1 })],

  /** Ends what was announced, because the secret is deleted. */
  toForget: (expiry: Omit<SecretExpiry, 'organization'>): Write => table.toDelete(placeOf(expiry)),

  /** Ends what was announced, once: 412 if somebody else did. */
  toEnd: (expiry: SecretExpiry): Write => table.toDelete(placeOf(expiry), 1),

  /** Lists the secrets that expire within the notice, or have expired, the earliest first: at most 10,000. */
  listDue: async function* (nowSeconds: number): AsyncGenerator<SecretExpiry> {
    let after: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const { rows, hasMore } = await table.page({ account: EXPIRIES, prefix: PREFIX }, { limit: ROWS_PER_PAGE, after });
      for (const row of rows) {
        const expiry = SecretExpiry.parse(row);
        if (expiry.expires_at - NOTICE_SECONDS > nowSeconds) return;
        yield expiry;
      }
      after = rows.at(-1) && String(rows.at(-1)?.record).slice(PREFIX.length);
      if (!hasMore) return;
    }
  },
});

export type SecretExpiries = ReturnType<typeof createSecretExpiries>;
