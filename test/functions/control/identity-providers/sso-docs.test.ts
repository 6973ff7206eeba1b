import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { IdentityProviderUpdate } from '../../../../functions/control/identity-providers/identity-provider-resource.ts';
import { LOGIN_FAULTS } from '../../../../functions/single-sign-on/login-fault.ts';

const page = readFileSync('docs/sso.md', 'utf8');

describe('docs/sso.md', () => {
  test('names the limits and the fields of a connection', () => {
    for (const field of Object.keys(IdentityProviderUpdate.shape).filter(
      (name) => !['name', 'client_id', 'deactivation_revokes_keys', 'status'].includes(name),
    ))
      expect(page).toContain(field);
  });

  test('says what to do for each reason for which a login can be refused', () => {
    // Nobody knows the connection of these logins.
    const withoutConnection = ['other_browser', 'callback_malformed', 'no_provider'];
    const reasons = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, reason]) => reason);
    expect(reasons.sort()).toEqual(
      Object.keys(LOGIN_FAULTS)
        .filter((fault) => !withoutConnection.includes(fault))
        .sort(),
    );
  });
});
