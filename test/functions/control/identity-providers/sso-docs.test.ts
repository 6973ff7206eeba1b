import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import {
  IdentityProviderUpdate,
  NewIdentityProvider,
} from '../../../../functions/control/identity-providers/identity-provider-resource.ts';
import { identityProviderRoutes } from '../../../../functions/control/identity-providers/routes.ts';

const page = readFileSync('docs/sso.md', 'utf8');
const commands = [...page.matchAll(/curl (?:-X (\w+) )?"\$CONTROL_URL([^"]+)"[\s\S]*?(?:-d '([^']+)'|(?=\n(?:curl|```)))/g)];

const schemaOf = (method: string) => (method === 'PATCH' ? IdentityProviderUpdate : NewIdentityProvider);

describe('docs/sso.md', () => {
  test('has only commands with a route and a valid body', () => {
    expect(commands).toHaveLength(5);
    for (const [, method = 'GET', path = '', body] of commands) {
      const route = identityProviderRoutes.find(
        (each) => each.method === method && new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
      );
      expect([method, path, route?.operationId]).toEqual([method, path, expect.any(String)]);
      if (body !== undefined) schemaOf(method).parse(JSON.parse(body));
    }
  });

  test('names the limits and the fields of a connection', () => {
    for (const field of Object.keys(IdentityProviderUpdate.shape).filter(
      (name) => !['name', 'client_id', 'deactivation_revokes_keys', 'status'].includes(name),
    ))
      expect(page).toContain(field);
  });
});
