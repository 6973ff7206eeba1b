import { ApiError } from '../../http/errors.ts';
import type { LimiterItem } from './limiter-item.ts';

/** The organization is suspended: 403. */
export class OrganizationSuspended extends ApiError {
  constructor() {
    super({
      status: 403,
      type: 'permission_error',
      code: 'organization_suspended',
      message: "This organization is suspended: its API keys don't work, and its members can't make changes. Contact your administrator.",
    });
  }
}

/** The limiter of an active organization. A missing limiter is our own bug. @throws 403 */
export const checkOrganization = (item: LimiterItem | undefined): LimiterItem => {
  if (!item) throw new Error('The API key is marked as limited by its organization, which has no limiter.');
  if (item.status !== 'active') throw new OrganizationSuspended();
  return item;
};
