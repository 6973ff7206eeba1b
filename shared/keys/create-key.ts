import { newId } from '../ids/id.ts';
import { type LimiterItem, NewKey } from './limiter.ts';
import type { LimiterStore } from './limiter-store.ts';
import { newSecret } from './secret.ts';

/** Creates an API key and returns its secret, which is stored nowhere: only its SHA-256 is. */
export const createKey = async (store: LimiterStore, fields: NewKey): Promise<{ key_id: string; secret: string }> => {
  const { org, scope, models, expires_at, requests_per_minute, tokens_per_minute, concurrency } = NewKey.parse(fields);
  const id = newId('key');
  const { secret, hash } = newSecret(scope, id);
  const item: LimiterItem = {
    id,
    h: hash,
    org,
    scope,
    status: 'active',
    cfg: 1,
    lim_r: requests_per_minute,
    lim_t: tokens_per_minute,
    lim_c: concurrency,
    fl: {},
    ...(models && { models }),
    ...(expires_at && { expires_at }),
  };
  await store.create(item);
  return { key_id: id, secret };
};
