import type { Route } from './access/route.ts';
import { adapterRoutes } from './adapters/routes.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { auditLogRoutes } from './audit/routes.ts';
import { billingRoutes } from './billing/routes.ts';
import type { ControlDependencies } from './dependencies.ts';
import { benchmarkRoutes } from './deployments/benchmark/routes.ts';
import { deploymentRoutes } from './deployments/routes.ts';
import { economicsRoutes } from './economics/routes.ts';
import { federationRuleRoutes } from './federation-rules/routes.ts';
import { identityProviderRoutes } from './identity-providers/routes.ts';
import { instanceTypeRoutes } from './instance-types/routes.ts';
import { lookupRoutes } from './lookup/routes.ts';
import { modelAliasRoutes } from './model-aliases/routes.ts';
import { modelRoutes } from './model-registry/routes.ts';
import { metricsRoutes } from './observability/metrics/routes.ts';
import { nowRoutes } from './observability/now/routes.ts';
import { payloadLogRoutes } from './observability/payload-log/routes.ts';
import { retrieveRequestRoute } from './observability/requests/retrieve-route.ts';
import { requestSearchRoutes } from './observability/requests/search-routes.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { priceRoutes } from './prices/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { runtimeRoutes } from './runtimes/routes.ts';
import { scimTokenRoutes } from './scim/token-routes.ts';
import { serviceAccountRoutes } from './service-accounts/routes.ts';
import { serviceLevelRoutes } from './service-levels/routes.ts';
import type { SignedInUser } from './sessions/authenticate.ts';
import { browserSessionRoutes } from './sessions/browser-routes.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { summaryRoutes } from './summary/routes.ts';
import { ticketRoutes } from './tickets/routes.ts';
import { usageRoutes } from './usage/routes.ts';
import { userRoutes } from './users/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Every route of the control plane, as served, documented and tested. If two paths match a request, the first wins. */
export const controlRoutes = [
  ...sessionRoutes,
  ...browserSessionRoutes,
  ...summaryRoutes,
  ...lookupRoutes,
  ...organizationRoutes,
  ...userRoutes,
  ...serviceAccountRoutes,
  ...identityProviderRoutes,
  ...federationRuleRoutes,
  ...apiKeyRoutes,
  ...projectRoutes,
  ...modelRoutes,
  ...modelAliasRoutes,
  ...priceRoutes,
  ...serviceLevelRoutes,
  ...deploymentRoutes,
  ...benchmarkRoutes,
  ...adapterRoutes,
  ...runtimeRoutes,
  ...instanceTypeRoutes,
  ...usageRoutes,
  ...economicsRoutes,
  ...metricsRoutes,
  ...nowRoutes,
  ...requestSearchRoutes,
  retrieveRequestRoute,
  ...billingRoutes,
  ...webhookRoutes,
  ...payloadLogRoutes,
  ...ticketRoutes,
  ...auditLogRoutes,
  ...scimTokenRoutes,
] as const satisfies readonly Route<ControlDependencies, SignedInUser>[];
