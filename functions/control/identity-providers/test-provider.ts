import * as z from 'zod';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { SSO_PATHS } from '../../../shared/identity/auth-paths.ts';
import { randomBase62 } from '../../../shared/ids/base62.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import type { IdentityProviderDependencies } from './dependencies.ts';
import { type ProviderPlace, visibleProvider } from './manage-identity-providers.ts';

const TEST_CHARACTERS = 32;

/** A dry login that was begun. */
export const BegunTest = z.object({
  object: z.literal('identity_provider_test'),
  id: z.string(),
  authorize_url: z.string().meta({ description: 'Open it in a browser and sign in.' }),
  expires_at: z.int().meta({ description: 'Unix time in seconds.' }),
});
export type BegunTest = z.infer<typeof BegunTest>;

/** The result of a dry login. */
export const TestResult = z.object({
  object: z.literal('identity_provider_test'),
  id: z.string(),
  outcome: z.enum(['refused', 'signs_in', 'links', 'provisions']).meta({
    description:
      'What a login would do: `signs_in` a user who is linked to the identity provider, `links` an existing user to it, or `provisions` a new user.',
  }),
  reason: z.string().nullable().meta({ description: 'Why it would be refused.' }),
  subject: z.string().nullable(),
  email: z.string().nullable(),
  role: z.string().nullable().meta({ description: 'The role that the user would have.' }),
  claims: z.record(z.string(), z.unknown()).meta({ description: 'The claims of the ID token. Long values are cut.' }),
  finished_at: z.int().meta({ description: 'Unix time in seconds.' }),
});
export type TestResult = z.infer<typeof TestResult>;

/** Begins a dry login, which changes nothing. A disabled connection can be tested, too. @throws 400, 404 */
export const beginTest = async (deps: IdentityProviderDependencies, actor: Actor, place: ProviderPlace): Promise<BegunTest> => {
  const { id: provider, organization } = await visibleProvider(deps, actor, place);
  const id = randomBase62(TEST_CHARACTERS);
  const { login, expiresAtMs } = await deps.ssoLogins.begin({ kind: 'test', organization, provider, test: id }, actor.origin.nowMs);
  return {
    object: 'identity_provider_test',
    id,
    authorize_url: `${deps.controlUrl}${SSO_PATHS.authorize}?login=${login}`,
    expires_at: unixSeconds(expiresAtMs),
  };
};

/** Returns the result of a dry login of the last hour. @throws 400; 404 if it is not finished */
export const retrieveTest = async (
  deps: IdentityProviderDependencies,
  actor: Actor,
  place: ProviderPlace,
  id: string,
): Promise<TestResult> => {
  const provider = await visibleProvider(deps, actor, place);
  const result = await deps.ssoLogins.testResult(id, actor.origin.nowMs);
  if (result?.provider !== provider.id)
    throw new ResourceNotFound('test', id, null, 'Finish the login in the browser first; the result is kept for an hour.');
  return TestResult.parse({ object: 'identity_provider_test', id, ...result });
};
