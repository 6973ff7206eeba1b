import { interpret } from '../../../infra/assembly/interpret.ts';
import type { Role, Statement } from '../../../infra/assembly/interpret-roles.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { assemblyDir } from '../../support/assembly/assembly.ts';

/** One action that a role may perform on one resource. */
export interface Granted {
  action: string;
  resource: string;
  condition: Statement['Condition'];
  /** Why it is needed if no function makes the call. */
  reason: string | undefined;
}

/** A role and what uses it. */
export interface GrantedRole {
  /** The function that has it, or else its title. */
  name: string;
  /** `<stack>/<logical id>` */
  title: string;
  granted: Granted[];
}

const reasonOf = ({ unexercised }: Role, action: string, resource: string): string | undefined =>
  unexercised.find((each) => (each.actions.includes(action) || each.actions.includes('*')) && (each.resource ?? resource) === resource)
    ?.reason;

/** Every role of the app, with each action and resource of its policies. */
export const readGrants = async (): Promise<GrantedRole[]> => {
  const { roles, functions } = interpret(await readAssembly(assemblyDir()));
  return roles
    .map((role) => ({
      name: functions.find(({ roleArn }) => roleArn === role.arn)?.shortName ?? role.title,
      title: role.title,
      granted: role.statements
        .flatMap(({ Effect, Action, Resource, Condition }) =>
          Effect === 'Deny'
            ? []
            : Action.flatMap((action) =>
                Resource.map((resource) => ({
                  action,
                  resource,
                  condition: Condition,
                  reason: reasonOf(role, action, resource),
                })),
              ),
        )
        .sort((a, b) => (a.action + a.resource < b.action + b.resource ? -1 : 1)),
    }))
    .filter(({ granted }) => granted.length > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
};
