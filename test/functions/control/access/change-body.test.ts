import { expect, test } from '@jest/globals';
import { controlRoutes } from '../../../../functions/control/routes.ts';

const bodyOf = (operationId: string) => controlRoutes.find((route) => route.operationId === operationId)?.body?.schema;

const patches = controlRoutes.filter(({ method }) => method === 'PATCH').map(({ operationId }) => operationId);

test.each(patches)('%s takes no body without a field', (operationId) => {
  expect(bodyOf(operationId)?.safeParse({}).success).toBe(false);
});

test.each([
  ['updateUser', 'revoke_keys'],
  ['updateServiceAccount', 'revoke_keys'],
  ['updateModel', 'accept_failed_checks'],
])('%s takes no body with only %s', (operationId, option) => {
  const [issue] = bodyOf(operationId)?.safeParse({ [option]: true }).error?.issues ?? [];
  expect(issue).toMatchObject({ path: [], message: `expected at least one field besides '${option}'` });
});
