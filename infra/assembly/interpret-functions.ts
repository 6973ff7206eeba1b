import * as z from 'zod';
import type { LambdaFunction } from './local-app.ts';
import { type LocatedResource, readProperties } from './located-resource.ts';

const FunctionProperties = z.object({
  Code: z.object({ S3Key: z.string() }),
  Handler: z.string().regex(/^[^.]+\.[^.]+$/),
  Environment: z.object({ Variables: z.record(z.string(), z.union([z.string(), z.number()]).transform(String)).default({}) }).prefault({}),
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
  ReservedConcurrentExecutions: z.int().min(1).optional(),
  Role: z.string().optional(),
  LoggingConfig: z.object({ LogGroup: z.string().optional() }).prefault({}),
});

/**
 * Reads an AWS::Lambda::Function; its S3 key names the code asset. Throws an Error naming a function that is not
 * supported.
 */
export const interpretFunction = (at: LocatedResource): LambdaFunction => {
  const { stack, logicalId, resolve } = at;
  const properties = readProperties(at, FunctionProperties);
  const folder = stack.assets.get(properties.Code.S3Key.replace(/\.zip$/, ''));
  if (folder === undefined) throw new Error(`The code of function ${logicalId} in stack ${stack.name} is not an asset of the assembly`);
  return {
    arn: String(resolve(stack, { 'Fn::GetAtt': [logicalId, 'Arn'] })),
    name: String(resolve(stack, { Ref: logicalId })),
    shortName: properties.Environment.Variables.SLUICE_FUNCTION ?? logicalId,
    folder,
    handler: properties.Handler,
    environment: properties.Environment.Variables,
    timeoutMs: properties.Timeout * 1000,
    memoryMiB: properties.MemorySize,
    reservedConcurrency: properties.ReservedConcurrentExecutions,
    roleArn: properties.Role,
    logGroup: properties.LoggingConfig.LogGroup,
  };
};
