import { expect, test } from '@jest/globals';
import { sessionRoutes } from '../../../../functions/control/sessions/routes.ts';
import { userRoutes } from '../../../../functions/control/users/routes.ts';

const routes = [...userRoutes, ...sessionRoutes];

test.each(['updateUser', 'deleteUser', 'resetTotp', 'stopTotp'])('%s documents the 409 for a break-glass owner', (operationId) => {
  expect(routes.find((route) => route.operationId === operationId)?.errors).toContain(409);
});
