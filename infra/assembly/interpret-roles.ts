import * as z from 'zod';
import { UNEXERCISED } from '../constructs/functions/acknowledge-unexercised.ts';
import type { LocatedResource } from './located-resource.ts';

const asList = <Item extends z.ZodType>(item: Item) => z.union([item.transform((one) => [one]), z.array(item)]);

// The evaluation knows these operators; a policy with another one is an error.
const OPERATORS = ['StringEquals', 'StringLike', 'ForAnyValue:StringEquals', 'ForAnyValue:StringLike'] as const;

// Strict, so that a policy with an element that the evaluation doesn't know, such as NotAction, is an error.
const Statement = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(['Allow', 'Deny']),
  Action: asList(z.string().regex(/^(?:\*|[a-z0-9-]+:[\w*?]+)$/)),
  Resource: asList(z.string()),
  Condition: z.partialRecord(z.enum(OPERATORS), z.record(z.string(), asList(z.string()))).default({}),
});

/** A statement of an identity-based policy, with resolved ARNs. */
export type Statement = z.output<typeof Statement>;

const Policy = z.object({
  Roles: z.array(z.string()).default([]),
  PolicyDocument: z.object({ Version: z.literal('2012-10-17'), Statement: asList(Statement) }),
});

const InlinePolicies = z.array(z.object({ PolicyDocument: Policy.shape.PolicyDocument })).default([]);

// `acknowledgeUnexercised` writes into the template why no test's call needs some of a role's actions.
const Unexercised = z.array(
  z.strictObject({ actions: z.array(z.string()).min(1), resource: z.string().optional(), reason: z.string().min(20) }),
);
export type Unexercised = z.output<typeof Unexercised>;

/** A role of the app. */
export interface Role {
  /** `<stack>/<logical id>` */
  title: string;
  arn: string;
  statements: readonly Statement[];
  unexercised: Unexercised;
}

/**
 * The roles of the app with the policies that are synthesized for them.
 * @throws ZodError if a policy has an element, an action or a condition that the evaluation does not know
 */
export const readRoles = (located: readonly LocatedResource[]): Role[] => {
  const policies = located
    .filter(({ resource }) => resource.type === 'AWS::IAM::Policy' || resource.type === 'AWS::IAM::ManagedPolicy')
    .map(({ stack, resource, resolve }) => Policy.parse(resolve(stack, resource.properties)));
  return located
    .filter(({ resource }) => resource.type === 'AWS::IAM::Role')
    .map(({ stack, logicalId, resource, resolve }) => {
      const name = String(resolve(stack, { Ref: logicalId }));
      const inline = InlinePolicies.parse(resolve(stack, resource.properties.Policies));
      const attached = policies.filter(({ Roles }) => Roles.includes(name));
      return {
        title: `${stack.name}/${logicalId}`,
        arn: String(resolve(stack, { 'Fn::GetAtt': [logicalId, 'Arn'] })),
        statements: [...inline, ...attached].flatMap(({ PolicyDocument }) => PolicyDocument.Statement),
        unexercised: Unexercised.parse(resolve(stack, resource.metadata?.[UNEXERCISED] ?? [])),
      };
    });
};
