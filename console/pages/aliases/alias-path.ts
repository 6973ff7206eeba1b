import { isOfPlatform, type Me } from '../../client/me.ts';
import { pathOfName } from '../models/model-path.ts';
import type { Alias } from './alias-draft.ts';

/** The address of an alias's screen. */
export const aliasPath = ({ alias, organization }: Pick<Alias, 'alias' | 'organization'>): string =>
  pathOfName('/aliases', alias, organization);

/** True if an alias is one that a user's role can change: users have those of their organization, the platform all. */
export const isChangeableBy = (me: Me, { organization }: Pick<Alias, 'organization'>): boolean =>
  isOfPlatform(me) || organization === me.organization;
