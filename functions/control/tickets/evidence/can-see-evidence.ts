import type { Permission } from '../../../../shared/hosts/permissions.ts';
import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import type { Evidence, EvidenceType } from '../../../../shared/tickets/ticket.ts';
import { type Actor, can, seesOnlyOwn } from '../../access/actor.ts';
import type { ApiKeyStore } from '../../api-keys/api-key-store.ts';

/** The permission to see each type of evidence. */
export const EVIDENCE_PERMISSIONS = {
  request: 'requests:read',
  deployment: 'deployments:read',
  invoice: 'billing:read',
} as const satisfies Record<EvidenceType, Permission>;

export interface EvidenceReads {
  apiKeys: Pick<ApiKeyStore, 'get'>;
}

const isOwnRequest = async (
  { apiKeys }: EvidenceReads,
  { userId }: Actor,
  organization: string,
  { resource }: Evidence,
): Promise<boolean> => {
  const { api_key_id } = JSON.parse(resource) as { api_key_id?: unknown };
  try {
    return (await apiKeys.get(organization, String(api_key_id))).created_by === userId;
  } catch (error) {
    if (!(error instanceof ResourceNotFound)) throw error;
    return false;
  }
};

/**
 * Returns true if someone who can see a ticket can see a piece of its evidence, with their current role. Members see
 * deployments, and requests of API keys that they created, but no invoices.
 * @param organization of the ticket
 */
export const canSeeEvidence = async (deps: EvidenceReads, actor: Actor, organization: string, evidence: Evidence): Promise<boolean> => {
  if (can(actor, 'tickets:answer')) return true;
  if (!can(actor, EVIDENCE_PERMISSIONS[evidence.type])) return false;
  return evidence.type !== 'request' || !seesOnlyOwn(actor) || isOwnRequest(deps, actor, organization, evidence);
};
