import { ApiError } from '../http/errors.ts';
import type { LimiterItem } from './limiter-item.ts';

/** An organization that may send no requests: 403. */
export class OrganizationSuspended extends ApiError {
  constructor() {
    super({
      status: 403,
      type: 'permission_error',
      code: 'organization_suspended',
      message:
        'The organization is suspended: its API keys open nothing, and its members can change nothing. Ask the administrator of this service.',
    });
  }
}

/** The limiter of an organization that may send requests. A key that names one which does not exist is a fault of ours. @throws 403 */
export const checkOrganization = (item: LimiterItem | undefined): LimiterItem => {
  if (!item) throw new Error('An API key names limits of its organization, which has none.');
  if (item.status !== 'active') throw new OrganizationSuspended();
  return item;
};
