import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { Conflict, PreconditionFailed } from '../http/errors.ts';
import { placeOfUser } from '../identity/user-directory.ts';
import { type StoredServiceAccount, toServiceAccount } from '../service-accounts/service-account-store.ts';
import { FederationRule } from './rule.ts';

const RULE = 'federation-rule#';
const MAX_RULES = 20;
const MAX_ISSUERS = 20;
// Each time, another rule of the organization was created or deleted meanwhile.
const MAX_TRIES = 5;
// Ids come from request paths and bodies; malformed ones are not looked up.
const ID = /^fed_[0-9A-Za-z]{18}$/;
const ACCOUNT_ID = /^user_[0-9A-Za-z]{18}$/;

const placeOfRule = (serviceAccount: string, id: string): RecordKey => ({ account: serviceAccount, record: RULE + id });

const countKey = (serviceAccount: string): RecordKey => ({ account: serviceAccount, record: 'federation-rules' });
const issuersKey = (organization: string | null): RecordKey => ({ account: organization ?? 'platform', record: 'federation-issuers' });

const isRuleId = (id: string): boolean => ID.test(id);

const tooManyRules = (): Conflict =>
  new Conflict({
    code: 'too_many_federation_rules',
    message: `A service account can have at most ${MAX_RULES} federation rules. Delete one first, or create another service account.`,
  });

const tooManyIssuers = (): Conflict =>
  new Conflict({
    code: 'too_many_issuers',
    param: 'issuer',
    message: `The rules of an organization can have at most ${MAX_ISSUERS} different issuers. Delete the rules of one issuer first.`,
  });

// The number of an organization's rules for each issuer, as it was read.
interface Issuers {
  organization: string | null;
  rules: Readonly<Record<string, number>>;
  /** 0: there is no row yet. */
  version: number;
}

/** Federation rules in the table `accounts`, in the partition of their service account. */
export const createRuleStore = (table: RecordTable) => {
  const toSetIssuers = ({ organization, version }: Issuers, rules: Readonly<Record<string, number>>): Write => ({
    ...table.toSave(issuersKey(organization), { rules, version }),
    refused: () => new IssuersChanged(),
  });

  const issuersOf = async (organization: string | null): Promise<Issuers> => {
    const row = await table.get(issuersKey(organization));
    return { organization, rules: (row?.rules ?? {}) as Record<string, number>, version: Number(row?.version ?? 0) };
  };

  const toDeleteRules = (deleted: readonly FederationRule[], issuers: Issuers): Write[] => {
    if (deleted.length === 0) return [];
    const count = (issuer: string): number => deleted.filter((rule) => rule.issuer === issuer).length;
    const left = Object.entries(issuers.rules).map(([issuer, rules]) => [issuer, rules - count(issuer)] as const);
    return [
      ...deleted.map(({ service_account, id, version }) => table.toDelete(placeOfRule(service_account, id), version)),
      toSetIssuers(issuers, Object.fromEntries(left.filter(([, rules]) => rules > 0))),
    ];
  };

  return {
    find: async (serviceAccount: string, id: string): Promise<FederationRule | undefined> => {
      if (!isRuleId(id)) return undefined;
      const row = await table.get(placeOfRule(serviceAccount, id));
      return row && FederationRule.parse(row);
    },

    /** Returns a service account and one of its rules, with one read. */
    findRule: async (
      serviceAccount: string,
      id: string,
    ): Promise<{ account: StoredServiceAccount | undefined; rule: FederationRule | undefined }> => {
      if (!ACCOUNT_ID.test(serviceAccount) || !isRuleId(id)) return { account: undefined, rule: undefined };
      const places = [placeOfUser(serviceAccount), placeOfRule(serviceAccount, id)] as const;
      const rows = await table.getMany(places);
      const [ofAccount, ofRule] = places.map(({ record }) => rows.find((row) => row.record === record));
      return { account: toServiceAccount(ofAccount), rule: ofRule && FederationRule.parse(ofRule) };
    },

    /** Lists the rules of a service account, oldest first. */
    list: async (serviceAccount: string): Promise<FederationRule[]> => {
      const { rows } = await table.page({ account: serviceAccount, prefix: RULE }, { limit: MAX_RULES });
      return rows.map((row) => FederationRule.parse(row));
    },

    issuersOf,

    /**
     * Makes a change with the number of an organization's rules for each issuer, and makes it again, a few times, if
     * another rule of the organization was created or deleted meanwhile. @throws IssuersChanged
     */
    withIssuers: async (organization: string | null, change: (issuers: Issuers) => Promise<void>): Promise<void> => {
      for (let tries = 1; ; tries++) {
        try {
          return await change(await issuersOf(organization));
        } catch (error) {
          if (!(error instanceof IssuersChanged) || tries === MAX_TRIES) throw error;
        }
      }
    },

    /** Creates a rule: 409 if there are too many, or IssuersChanged. @throws 409 for too many issuers */
    toCreate: (rule: FederationRule, issuers: Issuers): Write[] => {
      const rules = { ...issuers.rules, [rule.issuer]: (issuers.rules[rule.issuer] ?? 0) + 1 };
      if (Object.keys(rules).length > MAX_ISSUERS) throw tooManyIssuers();
      return [
        table.toCreate(placeOfRule(rule.service_account, rule.id), rule, () => new Error(`${rule.id} already exists.`)),
        table.toCount(countKey(rule.service_account), 1, MAX_RULES, tooManyRules),
        toSetIssuers(issuers, rules),
      ];
    },

    /** Checks that a rule is active and as it was read. @param refused the error otherwise */
    toCheckActive: ({ service_account, id, version }: FederationRule, refused: () => Error): Write =>
      table.toCheck(placeOfRule(service_account, id), { status: 'active', version }, refused),

    /** Replaces the version that was read; 412 if it has changed since. The issuer must stay the same. */
    toReplace: (rule: FederationRule): Write => table.toReplace(placeOfRule(rule.service_account, rule.id), rule),

    /** Deletes a rule as it was read: 412 if it has changed, or IssuersChanged. */
    toDelete: (rule: FederationRule, issuers: Issuers): Write[] => [
      ...toDeleteRules([rule], issuers),
      table.toCount(countKey(rule.service_account), -1, MAX_RULES, tooManyRules),
    ],

    /** Deletes all rules of a service account as they were listed: 412 if that has changed, or IssuersChanged. */
    toDeleteAll: (serviceAccount: string, rules: readonly FederationRule[], issuers: Issuers): Write[] => [
      ...toDeleteRules(rules, issuers),
      table.toDeleteCount(countKey(serviceAccount), rules.length, () => new PreconditionFailed()),
    ],
  };
};

export type RuleStore = ReturnType<typeof createRuleStore>;

// Another rule of the organization was created or deleted meanwhile.
class IssuersChanged extends Conflict {
  constructor() {
    super({ code: 'rules_changed', message: 'Another federation rule was created or deleted at the same time. Send the request again.' });
  }
}
