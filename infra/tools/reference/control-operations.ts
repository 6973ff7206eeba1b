import { consoleConfigurationRoute } from '../../../functions/console/routes.ts';
import type { ControlOperation } from '../../../functions/control/access/route.ts';
import { controlRoutes } from '../../../functions/control/routes.ts';
import { machineSignInRoutes } from '../../../functions/machine-sign-in/routes.ts';
import { browserSignInRoutes } from '../../../functions/sign-in/browser-routes.ts';
import { signInRoutes } from '../../../functions/sign-in/routes.ts';
import { browserSingleSignOnRoutes } from '../../../functions/single-sign-on/browser-routes.ts';
import { singleSignOnRoutes } from '../../../functions/single-sign-on/routes.ts';

/** Every route of the control plane's host, of all functions that serve it. */
export const controlOperations: readonly ControlOperation[] = [
  ...signInRoutes,
  ...browserSignInRoutes,
  ...machineSignInRoutes,
  ...singleSignOnRoutes,
  ...browserSingleSignOnRoutes,
  consoleConfigurationRoute,
  ...controlRoutes,
];
