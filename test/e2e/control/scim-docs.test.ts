import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { controlOf } from '../../support/clients/control.ts';
import { shareWalk, type Walk } from '../../support/clients/walk-through.ts';
import { storeIdentityProvider } from '../../support/fixtures/scim/store-identity-provider.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/scim.md');

let walk: Walk;
beforeAll(async () => {
  walk = await shareWalk();
});
afterAll(() => walk.close());

describe('docs/scim.md', () => {
  test('prints the output that it shows', async () => {
    const control = controlOf(walk.run);
    const { id: organization } = await control.createOrganization();
    const { token } = await control.createUser({ role: 'owner', organization });
    const { id } = await storeIdentityProvider(walk.run, { organization, domain: 'acme.example', deactivation_revokes_keys: true });
    const variables = { CONTROL_URL: walk.run.control_url ?? '', TOKEN: token, IDP: id };
    expect(await walk.follow(DOCUMENT, variables)).toBe(6);
  });
});
