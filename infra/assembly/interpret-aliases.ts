import * as z from 'zod';
import { type LocatedResource, readProperties } from './located-resource.ts';

const AliasProperties = z.object({ FunctionName: z.string() });

/** Finds the function of an alias. */
export type FunctionOf = (arn: string) => string;

/**
 * Reads the AWS::Lambda::Alias resources: the local run has one version of each function, which every alias serves.
 * @returns a function that turns the ARN of an alias into that of its function, and leaves other ARNs as they are
 * @throws Error naming an alias whose function is not in the assembly
 */
export const interpretAliases = (aliases: readonly LocatedResource[], functions: readonly { name: string; arn: string }[]): FunctionOf => {
  const arns = new Map(
    aliases.map((at) => {
      const { FunctionName } = readProperties(at, AliasProperties);
      const target = functions.find(({ name, arn }) => name === FunctionName || arn === FunctionName);
      if (!target)
        throw new Error(`The alias ${at.logicalId} in stack ${at.stack.name} is of ${FunctionName}, which is not in the assembly`);
      return [String(at.resolve(at.stack, { Ref: at.logicalId })), target.arn];
    }),
  );
  return (arn) => arns.get(arn) ?? arn;
};
