import { type ApiEvent, headerOf } from '../http/api-event.ts';
import { checkHost, type Host } from './authenticate.ts';
import { missingKey, wrongKey } from './key-errors.ts';
import { type PresentedKey, parseSecret } from './secret.ts';

/** The API key of the request. A malformed key or a key of the other host is rejected without a call. @throws 401 */
export const presentedKey = (event: ApiEvent, host: Host): PresentedKey => {
  const authorization = headerOf(event, 'authorization');
  if (!authorization) throw missingKey();
  const [, secret] = /^Bearer +(\S+)\s*$/i.exec(authorization) ?? [];
  if (!secret) throw missingKey();
  const key = parseSecret(secret);
  if (!key) throw wrongKey();
  checkHost(key, host);
  return key;
};
