import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import { exactInteger } from '../../../../shared/http/json/json-numbers.ts';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import type { Evidence, EvidenceType } from '../../../../shared/tickets/ticket.ts';
import { type Actor, can } from '../../access/actor.ts';
import { type InvoiceReads, visibleInvoice } from '../../billing/invoices/find-invoice.ts';
import { toInvoiceResource } from '../../billing/invoices/invoice-resource.ts';
import { type DeploymentReads, toResources, visibleDeployment } from '../../deployments/find-deployment.ts';
import { findRequest, isRequestId, type RetrieveDependencies } from '../../observability/requests/retrieve-request.ts';
import { EVIDENCE_PERMISSIONS } from './can-see-evidence.ts';

export type EvidenceDependencies = RetrieveDependencies & DeploymentReads & InvoiceReads;

interface Named {
  request_ids: readonly string[];
  deployment?: string | undefined;
  invoice?: string | undefined;
}

// An invoice can have thousands of lines, but a row of the database has room for a few hundred.
const MAX_LINES = 200;
// A request is found about a minute after its end.
const FINDABLE_AFTER_MS = 3 * 60_000;

const toJson = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? exactInteger(part) : part));

// The error of a recent request says that it may not be known yet.
const explained = (error: unknown, id: string, nowMs: number): unknown => {
  if (!(error instanceof ResourceNotFound)) return error;
  const isNew = isRequestId(id) && nowMs - requestTimeMs(id) < FINDABLE_AFTER_MS;
  if (!isNew) return new ResourceNotFound('request', id, 'request_ids');
  return new ResourceNotFound(
    'request',
    id,
    'request_ids',
    'A request can be found about a minute after it ends. Check the id, or try again then.',
  );
};

const requestFacts = async (deps: EvidenceDependencies, actor: Actor, id: string) => {
  try {
    const { detail, rated } = await findRequest(deps, actor, id);
    return { resource: detail, internal: { events: [rated.original, ...rated.again] } };
  } catch (error) {
    throw explained(error, id, actor.origin.nowMs);
  }
};

const deploymentFacts = async (deps: EvidenceDependencies, actor: Actor, id: string) => {
  const deployment = await visibleDeployment(deps, actor, id);
  const [resource] = await toResources(deps, actor, [deployment]);
  // Admins see the images of containers, and AWS's messages.
  const [internal] = await toResources(deps, { ...actor, role: 'admin' }, [deployment]);
  return { resource, internal: { deployment: internal } };
};

const invoiceFacts = async (deps: EvidenceDependencies, actor: Actor, id: string) => {
  const invoice = await visibleInvoice(deps, actor, id);
  const resource = toInvoiceResource(invoice);
  const lines_left_out = Math.max(0, resource.lines.length - MAX_LINES);
  return { resource: { ...resource, lines: resource.lines.slice(0, MAX_LINES), lines_left_out }, internal: {} };
};

type Facts = (deps: EvidenceDependencies, actor: Actor, id: string) => Promise<{ resource: unknown; internal: object }>;

const FACTS: Readonly<Record<EvidenceType, Facts>> = { request: requestFacts, deployment: deploymentFacts, invoice: invoiceFacts };

// The fields of a ticket that name them.
const PARAMETERS = { request: 'request_ids', deployment: 'deployment', invoice: 'invoice' } as const satisfies Record<EvidenceType, string>;

/**
 * Reads the current state of the requests, the deployment and the invoice that a ticket names. All must be the actor's
 * to see.
 * @throws 404 for the first one that does not exist, or that the actor can't see
 */
export const collectEvidence = async (
  deps: EvidenceDependencies,
  actor: Actor,
  { request_ids, deployment, invoice }: Named,
): Promise<Evidence[]> => {
  const { nowMs } = actor.origin;
  const evidence = async (type: EvidenceType, id: string): Promise<Evidence> => {
    if (!can(actor, EVIDENCE_PERMISSIONS[type])) throw new ResourceNotFound(type, id, PARAMETERS[type]);
    const { resource, internal } = await FACTS[type](deps, actor, id);
    return { type, id, at: nowMs, resource: toJson(resource), internal: toJson(internal) };
  };
  return Promise.all([
    ...request_ids.map((id) => evidence('request', id)),
    ...(deployment === undefined ? [] : [evidence('deployment', deployment)]),
    ...(invoice === undefined ? [] : [evidence('invoice', invoice)]),
  ]);
};
