import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { signInAt } from '../../support/clients/browser.ts';
import { controlOf } from '../../support/clients/control.ts';
import type { Walk } from '../../support/clients/walk-through.ts';
import type { OpenIdProvider } from '../../support/emulators/openid-provider.ts';
import { singleSignOn } from './run.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/sso.md');
const ACCOUNT = 'ada@example.com';

let walk: Walk;
let zone: Map<string, string[]>;
let openId: OpenIdProvider;
beforeAll(async () => {
  ({ walk, zone, openId } = await singleSignOn.start());
  openId.groups.set(ACCOUNT, ['sluice-finance']);
});

// A reader's work elsewhere: the record in the DNS, and the login in a browser.
const act = async (printed: string): Promise<void> => {
  const { domains, authorize_url } = JSON.parse(printed);
  for (const { record } of domains ?? []) zone.set(record.name, [record.value]);
  if (authorize_url !== undefined) expect(await signInAt(openId.issuer, authorize_url, ACCOUNT)).toMatchObject({ status: 200 });
};

describe('docs/sso.md', () => {
  test('prints the output that it shows with a real OpenID provider', async () => {
    const control = controlOf(walk.run);
    const { id: organization } = await control.createOrganization();
    const owner = await control.createUser({ role: 'owner', organization });
    await control.setUpSecondFactor(owner);
    const { issuer, client } = openId;
    const ofProvider = { ISSUER: issuer, CLIENT_ID: client.id, CLIENT_SECRET: client.secret };
    const variables = { CONTROL_URL: walk.run.control_url ?? '', TOKEN: owner.token, OWNER: owner.id, ...ofProvider };
    expect(await walk.follow(DOCUMENT, variables, act)).toBe(5);
  });
});
