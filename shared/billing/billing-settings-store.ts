import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { PreconditionFailed } from '../http/errors.ts';
import { BillingProfile } from './billing-profile.ts';
import { Seller } from './seller.ts';

const StoredSeller = ignoringUnknown(Seller);
const StoredProfile = ignoringUnknown(BillingProfile);

const PLATFORM = 'platform';
const SELLER: RecordKey = { account: PLATFORM, record: 'seller' };
/** The records of organizations whose usage is exported to meters. */
export const METERED_PREFIX = 'meters#';

const profileRecordKey = (organization: string): RecordKey => ({ account: organization, record: 'profile' });
const meteredRecordKey = (organization: string): RecordKey => ({ account: PLATFORM, record: METERED_PREFIX + organization });

/** The seller and the billing profiles, in the table `billing`. The only code that knows their keys. */
export const createBillingSettingsStore = (table: RecordTable) => ({
  /** The seller; undefined until an admin has set it. */
  getSeller: async (): Promise<Seller | undefined> => {
    const row = await table.get(SELLER);
    return row && StoredSeller.parse(row);
  },

  /** Replaces the seller. @param seller with the version that was read, or 0 if there was none */
  toReplaceSeller: (seller: Seller): Write => table.toSave(SELLER, seller),

  /** An organization's profile; the defaults, with version 0, until it is changed. */
  getProfile: async (organization: string): Promise<BillingProfile> =>
    StoredProfile.parse((await table.get(profileRecordKey(organization))) ?? { organization }),

  /** Replaces a profile that was read, and adds or removes the organization among those whose usage is exported. */
  toReplaceProfile: (profile: BillingProfile, before: BillingProfile): Write[] => {
    const { organization } = profile;
    const metered = meteredRecordKey(organization);
    const isMetered = profile.stripe_customer !== null;
    const wasMetered = before.stripe_customer !== null;
    return [
      table.toSave(profileRecordKey(organization), { ...profile, version: before.version }),
      ...(isMetered && !wasMetered ? [table.toCreate(metered, { organization }, () => new PreconditionFailed())] : []),
      ...(wasMetered && !isMetered ? [table.toDelete(metered)] : []),
    ];
  },
});

export type BillingSettingsStore = ReturnType<typeof createBillingSettingsStore>;
