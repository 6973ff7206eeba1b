import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { IdentityProviderUpdate } from '../../../../functions/control/identity-providers/identity-provider-resource.ts';

const page = readFileSync('docs/sso.md', 'utf8');

describe('docs/sso.md', () => {
  test('names the limits and the fields of a connection', () => {
    for (const field of Object.keys(IdentityProviderUpdate.shape).filter(
      (name) => !['name', 'client_id', 'deactivation_revokes_keys', 'status'].includes(name),
    ))
      expect(page).toContain(field);
  });
});
