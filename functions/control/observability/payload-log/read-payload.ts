import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type AuditDependencies, commit } from '../../../../shared/audit/commit.ts';
import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import { lazy } from '../../../../shared/http/lazy.ts';
import { Payload, payloadKeyOf } from '../../../../shared/payload-log/payload.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import type { Actor, ActorChecks } from '../../access/actor.ts';
import { ownOrganization } from './manage-payload-log.ts';
import type { PayloadResource } from './payload-log-resource.ts';
import type { ReadObject } from './read-object.ts';

/** Reads objects of a bucket. The client of S3 is loaded with the first one, because most requests need none. */
export const createReadPayload = (bucket: string): ReadObject =>
  lazy(async () => (await import('./read-object.ts')).createReadObject(bucket));

export interface PayloadDependencies extends AuditDependencies {
  readPayload: ReadObject;
  users: ActorChecks;
}

const REQUEST_ID = /^req_[0-9A-Za-z]{1,64}$/;
// Two directions of at most 1 MB each, and their metadata.
const MAX_BYTES = 3_000_000;

const decompress = promisify(gunzip);

/**
 * Returns the logged content of a request. Each read is an entry of the audit log, which is written before the content
 * is returned.
 * @throws 403, 404
 */
export const retrievePayload = async (deps: PayloadDependencies, actor: Actor, requestId: string): Promise<PayloadResource> => {
  const organization = ownOrganization(actor);
  const notFound = () => new ResourceNotFound('payload', requestId);
  if (!REQUEST_ID.test(requestId)) throw notFound();
  const { origin } = actor;
  const compressed = await deps.readPayload(payloadKeyOf(organization, requestId));
  if (!compressed) throw notFound();
  const content = await decompress(compressed, { maxOutputLength: MAX_BYTES });
  const payload = Payload.parse(JSON.parse(content.toString()));
  // The bucket deletes objects once a day.
  if (payload.expires_at * SECOND_MS <= origin.nowMs) throw notFound();
  const read = { action: 'payload.read', organization, target: { type: 'request', id: requestId } };
  await commit(deps, origin, read, deps.users.toCheckActor(actor));
  return { object: 'request.payload', ...payload };
};
