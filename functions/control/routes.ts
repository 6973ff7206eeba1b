import type { Route } from './access/route.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { auditLogRoutes } from './audit/routes.ts';
import { modelRoutes } from './model-registry/routes.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { priceRoutes } from './prices/routes.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { userRoutes } from './users/routes.ts';

/**
 * Every route of the control plane, with who may call it. What is served, documented and tested is made of this list; of two paths that fit, the
 * first counts.
 */
export const controlRoutes: readonly Route[] = [
  ...sessionRoutes,
  ...organizationRoutes,
  ...userRoutes,
  ...apiKeyRoutes,
  ...modelRoutes,
  ...priceRoutes,
  ...auditLogRoutes,
];
