import { payloadLogConfiguration } from '../../../../shared/admission/item/key-item.ts';
import { commit } from '../../../../shared/audit/commit.ts';
import { Forbidden } from '../../../../shared/http/errors.ts';
import { checkVersion } from '../../../../shared/http/precondition.ts';
import type { PayloadLogSettings } from '../../../../shared/payload-log/settings.ts';
import type { PayloadLogStore, SettingsOwner } from '../../../../shared/payload-log/settings-store.ts';
import { unixSeconds } from '../../../../shared/time/units.ts';
import { type Actor, isOfPlatform, organizationFor } from '../../access/actor.ts';
import { toConfigureAll } from '../../api-keys/change-api-key.ts';
import type { ApiKeyDependencies } from '../../api-keys/create-api-key.ts';
import { setPayloadLogOfKeys } from '../../organizations/organization-limiter.ts';
import { limitersOf, type OrganizationDependencies } from '../../organizations/update-organization.ts';
import { DEFAULTS, type NewPayloadLog, type PayloadLogResource, toPayloadLogResource } from './payload-log-resource.ts';

export interface PayloadLogDependencies extends ApiKeyDependencies, Pick<OrganizationDependencies, 'apiKeys'> {
  apiKeys: ApiKeyDependencies['apiKeys'];
  payloadLogs: PayloadLogStore;
}

type Expected = readonly number[] | undefined;

/**
 * Returns the organization of an owner. Content belongs to the organization, so the platform's admins can neither read
 * nor log it.
 * @throws 403
 */
export const ownOrganization = (actor: Actor): string => {
  if (isOfPlatform(actor))
    throw new Forbidden({ message: 'Only owners of an organization can use its payload log. Ask an owner to do it.' });
  return organizationFor(actor, undefined);
};

const recorded = ({ enabled, retention_days, patterns, paths, tool_arguments }: NewPayloadLog | PayloadLogSettings) => ({
  enabled,
  retention_days,
  patterns,
  paths,
  tool_arguments,
});

/**
 * Returns the settings of an organization's payload log, or those that apply to one of its API keys.
 * @throws 403, 404
 */
export const retrievePayloadLog = async (
  deps: PayloadLogDependencies,
  actor: Actor,
  apiKey: string | undefined,
): Promise<PayloadLogResource> => {
  const organization = ownOrganization(actor);
  const ofOrganization = await deps.payloadLogs.get({ organization });
  if (apiKey === undefined) return toPayloadLogResource(organization, undefined, ofOrganization);
  await deps.apiKeys.get(organization, apiKey);
  return toPayloadLogResource(organization, apiKey, await deps.payloadLogs.get({ organization, apiKey }), ofOrganization);
};

const settingsOf = (actor: Actor, body: NewPayloadLog, pending: boolean): Omit<PayloadLogSettings, 'version'> => ({
  ...body,
  pending,
  updated_at: unixSeconds(actor.origin.nowMs),
  updated_by: actor.userId,
});

// Settings that don't exist have version 0.
const readSettings = async (deps: PayloadLogDependencies, owner: SettingsOwner, expected: Expected) => {
  const before = await deps.payloadLogs.get(owner);
  checkVersion({ version: before?.version ?? 0 }, expected);
  return before;
};

// Applies from each key's next request on. Repeating the request includes keys that a crash left out.
const setOfOrganization = async (
  deps: PayloadLogDependencies,
  actor: Actor,
  organization: string,
  body: NewPayloadLog,
  expected: Expected,
): Promise<PayloadLogResource> => {
  const before = await readSettings(deps, { organization }, expected);
  const settings = settingsOf(actor, body, true);
  const version = (before?.version ?? 0) + 1;
  const audited = { action: 'payload_log.updated', organization, target: { type: 'payload_log', id: organization } };
  await commit(deps, actor.origin, { ...audited, before: recorded(before ?? DEFAULTS), after: recorded(body) }, [
    ...deps.users.toCheckActor(actor),
    deps.payloadLogs.toSave({ organization }, settings, before?.version),
  ]);
  // A key that is created from now on has the setting, because its creation checks that version.
  await setPayloadLogOfKeys(deps.limiters, organization, { isOn: body.enabled, version }, await limitersOf(deps, organization));
  await deps.payloadLogs.complete(organization, version);
  return toPayloadLogResource(organization, undefined, { ...settings, pending: false, version });
};

// Without a body, the organization's settings apply again.
const setOfKey = async (
  deps: PayloadLogDependencies,
  actor: Actor,
  owner: SettingsOwner & { apiKey: string },
  body: NewPayloadLog | null,
  expected: Expected,
): Promise<PayloadLogResource> => {
  const { organization, apiKey } = owner;
  const key = await deps.apiKeys.get(organization, apiKey);
  const before = await readSettings(deps, owner, expected);
  const inherited = await deps.payloadLogs.get({ organization });
  if (!body && !before) return toPayloadLogResource(organization, apiKey, undefined, inherited);
  const settings = body && settingsOf(actor, body, false);
  const write = settings
    ? deps.payloadLogs.toSave(owner, settings, before?.version)
    : deps.payloadLogs.toDelete(owner, before?.version ?? 0);
  const { nowMs } = actor.origin;
  const limiters = await toConfigureAll(deps, key, payloadLogConfiguration(body?.enabled ?? null), nowMs);
  const audited = {
    action: body ? 'payload_log.updated' : 'payload_log.deleted',
    organization,
    target: { type: 'api_key', id: apiKey },
    before: before ? recorded(before) : {},
    after: body ? recorded(body) : {},
  };
  await commit(deps, actor.origin, audited, [...deps.users.toCheckActor(actor), write, ...limiters.writes]);
  await limiters.complete();
  const own = settings ? { ...settings, version: (before?.version ?? 0) + 1 } : undefined;
  return toPayloadLogResource(organization, apiKey, own, inherited);
};

/** Replaces the settings of an organization's payload log, or of one of its API keys. @throws 403, 404, 412, 503 */
export const setPayloadLog = (
  deps: PayloadLogDependencies,
  actor: Actor,
  apiKey: string | undefined,
  body: NewPayloadLog,
  expected: Expected,
): Promise<PayloadLogResource> => {
  const organization = ownOrganization(actor);
  return apiKey === undefined
    ? setOfOrganization(deps, actor, organization, body, expected)
    : setOfKey(deps, actor, { organization, apiKey }, body, expected);
};

/**
 * Switches an organization's payload log off with default settings, or makes an API key follow its organization.
 * @throws 403, 404, 412, 503
 */
export const deletePayloadLog = (
  deps: PayloadLogDependencies,
  actor: Actor,
  apiKey: string | undefined,
  expected: Expected,
): Promise<PayloadLogResource> => {
  const organization = ownOrganization(actor);
  return apiKey === undefined
    ? setOfOrganization(deps, actor, organization, DEFAULTS, expected)
    : setOfKey(deps, actor, { organization, apiKey }, null, expected);
};
