import type { Route } from './route.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { auditLogRoutes } from './routes/audit-log.ts';
import { modelRoutes } from './routes/models.ts';
import { organizationRoutes } from './routes/organizations.ts';
import { priceRoutes } from './routes/prices.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { userRoutes } from './routes/users.ts';

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
