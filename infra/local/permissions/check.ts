import type { Role } from '../../assembly/interpret-roles.ts';
import type { LambdaFunction } from '../../assembly/local-app.ts';
import { accessKeyIdOf } from '../lambda/access-key-id.ts';
import { evaluate, type Grant, type Need } from './evaluate.ts';
import { CALLED_VIA, type ServiceCall } from './needs/arn.ts';
import { REQUIRED_PERMISSIONS } from './needs/required-permissions.ts';
import { type Call, signerOf } from './signed-call.ts';
import { EmulatorGone } from './tag-reader.ts';

/** A permission that a call used, or lacked. */
export type Use =
  | ({ kind: 'used'; role: string } & Grant)
  | { kind: 'denied'; role: string; function: string; action: string; resource: string; why: string };

/** The error of a call that is denied. */
export interface Denial {
  name: 'AccessDeniedException' | 'ValidationException';
  message: string;
}

interface CheckOptions {
  functions: readonly LambdaFunction[];
  roles: readonly Role[];
  /** The tags of a SageMaker resource, as condition keys. */
  tagsOf: ServiceCall['tagsOf'];
  /** Called for each permission that a call uses, and for each call that is denied. */
  report: (use: Use) => void;
}

/**
 * Checks calls against the policies of the role whose function signed them.
 * @returns the error of a call that is denied, or undefined. Calls that no function signed are not checked: they are
 * not the app's.
 * @throws EmulatorGone if the tags of a resource can't be read
 */
export const createCheck = ({ functions, roles, tagsOf, report }: CheckOptions) => {
  const callers = new Map(functions.map((fn) => [accessKeyIdOf(fn), { fn, role: roles.find(({ arn }) => arn === fn.roleArn) }]));
  const needsOf = async ({ method, url, headers, body }: Call, service: string, region: string): Promise<Need[]> => {
    const toNeeds = REQUIRED_PERMISSIONS[service];
    if (!toNeeds) throw new Error(`the permission check does not know the service ${service}`);
    const header = (name: string): string | undefined => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(',') : value;
    };
    return toNeeds({ method, url, header, body, region, tagsOf });
  };
  return async (call: Call): Promise<Denial | undefined> => {
    const signer = signerOf(call);
    const caller = signer && callers.get(signer.accessKeyId);
    if (!caller) return undefined;
    const { fn, role } = caller;
    const title = role?.title ?? fn.name;
    const deny = (action: string, resource: string, why: string): Denial => {
      report({ kind: 'denied', role: title, function: fn.shortName, action, resource, why });
      return { name: 'AccessDeniedException', message: `${title} is not authorized to perform ${action} on ${resource}: ${why}` };
    };
    const missing: string[] = [];
    let needs: Need[];
    try {
      needs = await needsOf(call, signer.service, signer.region);
    } catch (error) {
      if (error instanceof EmulatorGone) throw error;
      return deny(`${call.method} ${call.url.pathname}`, signer.service, String(error));
    }
    for (const need of needs) {
      const decision = evaluate(role?.statements ?? [], need);
      if (decision.isAllowed) report({ kind: 'used', role: title, ...decision.by });
      else {
        const denial = deny(need.action, need.resource, decision.why);
        if (!(CALLED_VIA in need.context)) return denial;
        missing.push(need.action);
      }
    }
    if (missing.length === 0) return undefined;
    return { name: 'ValidationException', message: `User is missing the following permissions: ${missing.join(', ')}` };
  };
};

export type Check = ReturnType<typeof createCheck>;
