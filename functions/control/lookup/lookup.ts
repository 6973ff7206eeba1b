import { parseSecret } from '../../../shared/admission/item/secret.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import type { Actor } from '../access/actor.ts';
import { findById } from './find-by-id.ts';
import { findByEmail, findByModelName, findKeys } from './find-by-text.ts';
import type { LookupDependencies } from './lookup-dependencies.ts';
import { type Lookup, type LookupMatch, MAX_MATCHES } from './lookup-resource.ts';

const isSame = (one: LookupMatch, other: LookupMatch): boolean => one.object === other.object && one.id === other.id;

/**
 * Finds what a text names among what the actor can see: at most 20 matches, those by id and address first.
 * @throws 400 for the secret of an API key
 */
export const lookup = async (deps: LookupDependencies, actor: Actor, text: string): Promise<Lookup> => {
  if (parseSecret(text))
    throw new InvalidValue('q', 'it is the secret of an API key. Rotate the key if others can see this URL, and look for its id or hint');
  const [byId, byEmail, byModel, keys] = await Promise.all([
    findById(deps, actor, text),
    findByEmail(deps, actor, text),
    findByModelName(deps, actor, text),
    findKeys(deps, actor, text),
  ]);
  const all = [...byId, ...byEmail, ...byModel, ...keys.matches];
  const data = all.filter((match, i) => all.findIndex((each) => isSame(each, match)) === i);
  return { object: 'list', data: data.slice(0, MAX_MATCHES), has_more: keys.hasMore || data.length > MAX_MATCHES };
};
