import type { ManagedSettings } from '../http/serve-settings.ts';
import type { Account } from './account.ts';
import { DeploymentSettings } from './control-plane/settings.ts';
import { Settings, type SettingsHolder } from './invocation-settings.ts';

/** `/control`: how invocations end. */
export const invocationSettings = (holder: SettingsHolder): ManagedSettings<Settings> => ({
  schema: Settings,
  set: holder.set,
  reset: () => holder.set(Settings.parse({})),
  show: holder.get,
});

/**
 * `/control/deployments`: how transitions of deployments go. Responses also show all that exists, and a reset removes
 * it.
 */
export const deploymentSettings = (account: Account): ManagedSettings<DeploymentSettings> => ({
  schema: DeploymentSettings,
  set: account.configure,
  reset: account.reset,
  show: () => ({ settings: account.settings(), ...account.proof() }),
});
