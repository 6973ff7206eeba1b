import { type AuditDependencies, commit } from '../../../../shared/audit/commit.ts';
import type { BillingSettingsStore } from '../../../../shared/billing/billing-settings-store.ts';
import { ApiError } from '../../../../shared/http/errors.ts';
import { checkVersion } from '../../../../shared/http/precondition.ts';
import type { Actor, ActorChecks } from '../../access/actor.ts';
import type { NewSeller, SellerResource } from './seller-resource.ts';

export interface SellerDependencies extends AuditDependencies {
  settings: Pick<BillingSettingsStore, 'getSeller' | 'toReplaceSeller'>;
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

/** Returns the seller. @throws 404 until it is set */
export const retrieveSeller = async ({ settings }: Pick<SellerDependencies, 'settings'>): Promise<SellerResource> => {
  const seller = await settings.getSeller();
  if (!seller) throw new SellerNotSet();
  return { object: 'seller', ...seller };
};

/** Replaces the seller. Issued invoices keep theirs. @throws 412 */
export const replaceSeller = async (
  deps: SellerDependencies,
  actor: Actor,
  body: NewSeller,
  expected: readonly number[] | undefined,
): Promise<SellerResource> => {
  const before = await deps.settings.getSeller();
  const { version } = checkVersion({ version: before?.version ?? 0 }, expected);
  const change = {
    action: 'seller.updated',
    organization: null,
    target: { type: 'seller', id: 'seller' },
    ...(before && { before }),
    after: body,
  };
  await commit(deps, actor.origin, change, [...deps.users.toCheckActor(actor), deps.settings.toReplaceSeller({ ...body, version })]);
  return { object: 'seller', ...body, version: version + 1 };
};
