import type { ApiKey } from './key-draft.ts';

type KeyState = 'active' | 'expired' | 'revoked';

/** If a key can be used. @param nowS Unix seconds */
export const keyStateOf = ({ status, expires_at }: Pick<ApiKey, 'status' | 'expires_at'>, nowS: number): KeyState => {
  if (status === 'revoked') return 'revoked';
  return expires_at !== null && expires_at <= nowS ? 'expired' : 'active';
};
