import { describe, expect, test } from '@jest/globals';
import { federationRuleRoutes } from '../../../../functions/control/federation-rules/routes.ts';
import { serviceAccountRoutes } from '../../../../functions/control/service-accounts/routes.ts';

const routes = [...serviceAccountRoutes, ...federationRuleRoutes];

describe('the routes of service accounts', () => {
  test.each([
    ['createFederationRule', 409],
    ['deleteFederationRule', 409],
    ['deleteServiceAccount', 409],
    ['deleteServiceAccount', 412],
    ['createServiceAccountSecret', 412],
    ['deleteServiceAccountSecret', 412],
  ])('document that %s can lose a race with a %i', (operationId, status) => {
    expect(routes.find((route) => route.operationId === operationId)?.errors).toContain(status);
  });
});
