import { type AuditDependencies, commit } from '../../../../shared/audit/commit.ts';
import type { AllInvoicesStore } from '../../../../shared/billing/all-invoices-store.ts';
import type { BillingSettingsStore } from '../../../../shared/billing/billing-settings-store.ts';
import { DEFAULT_TERMS, type Seller } from '../../../../shared/billing/seller.ts';
import { ApiError, Conflict, InvalidValue } from '../../../../shared/http/errors.ts';
import { checkVersion } from '../../../../shared/http/precondition.ts';
import type { Actor, ActorChecks } from '../../access/actor.ts';
import { type NewSeller, type SellerResource, withCurrency } from './seller-resource.ts';

export interface SellerDependencies extends AuditDependencies {
  settings: Pick<BillingSettingsStore, 'getSeller' | 'toReplaceSeller'>;
  allInvoices: Pick<AllInvoicesStore, 'page'>;
  users: ActorChecks;
}

class SellerNotSet extends ApiError {
  constructor() {
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'seller_not_found',
      message: 'The seller has not been set yet. Set it with PUT /v1/billing/seller.',
    });
  }
}

class CurrencyOmitted extends InvalidValue {
  constructor(currency: string) {
    super(
      'currency',
      `expected a currency, because the seller's is ${currency} and a request without one would set ${DEFAULT_TERMS.currency}`,
    );
  }
}

class CurrencyOfDrafts extends Conflict {
  constructor(currency: string, draft: string) {
    super({
      code: 'currency_in_use',
      param: 'currency',
      message: `The currency can't be changed while invoices are drafts in ${currency}, such as ${draft}. Issue or delete all drafts first.`,
    });
  }
}

// Amounts of drafts are in the currency before, but drafts are issued in the seller's.
const checkCurrency = async (
  { allInvoices }: SellerDependencies,
  before: Seller,
  { currency }: Pick<Seller, 'currency'>,
): Promise<void> => {
  if (currency === before.currency) return;
  const { entries } = await allInvoices.page({ state: 'draft' }, { limit: 1 });
  if (entries[0]) throw new CurrencyOfDrafts(before.currency, entries[0].id);
};

/** Returns the seller. @throws 404 until it is set */
export const retrieveSeller = async ({ settings }: Pick<SellerDependencies, 'settings'>): Promise<SellerResource> => {
  const seller = await settings.getSeller();
  if (!seller) throw new SellerNotSet();
  return { object: 'seller', ...seller };
};

/**
 * Replaces the seller. Issued invoices keep theirs.
 * @throws 400 without a currency if the seller has another one than the default; 409 if the currency changes while
 * invoices are drafts; 412
 */
export const replaceSeller = async (
  deps: SellerDependencies,
  actor: Actor,
  body: NewSeller,
  expected: readonly number[] | undefined,
): Promise<SellerResource> => {
  const before = await deps.settings.getSeller();
  const { version } = checkVersion({ version: before?.version ?? 0 }, expected);
  if (before && body.currency === undefined && before.currency !== DEFAULT_TERMS.currency) throw new CurrencyOmitted(before.currency);
  const seller = withCurrency(body);
  if (before) await checkCurrency(deps, before, seller);
  const change = {
    action: 'seller.updated',
    organization: null,
    target: { type: 'seller', id: 'seller' },
    ...(before && { before }),
    after: seller,
  };
  await commit(deps, actor.origin, change, [...deps.users.toCheckActor(actor), deps.settings.toReplaceSeller({ ...seller, version })]);
  return { object: 'seller', ...seller, version: version + 1 };
};
