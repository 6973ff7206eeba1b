import { randomBase62 } from '../../../shared/ids/base62.ts';

const ADDRESS_CHARACTERS = 20;
// Its top-level domain is reserved, so no mail can reach it: https://www.rfc-editor.org/rfc/rfc2606#section-2
const SERVICE_DOMAIN = '@service.invalid';

/** A new address for the user of a service account at the user pool, which requires one. It gets no mail. */
export const newServiceAddress = (): string => `sa-${randomBase62(ADDRESS_CHARACTERS).toLowerCase()}${SERVICE_DOMAIN}`;

/** Says if an address, in lower case, could be a service account's. */
export const isServiceAddress = (email: string): boolean => email.endsWith(SERVICE_DOMAIN);
