import * as z from 'zod';
import type { UserPool, UserPoolClient } from './local-app.ts';
import { type LocatedResource, readProperties } from './located-resource.ts';

const UNIT_SECONDS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
const Unit = z.enum(['seconds', 'minutes', 'hours', 'days']);

const PoolProperties = z.object({
  // Other kinds of username and a required second factor are not supported.
  UsernameAttributes: z.tuple([z.literal('email')]),
  UsernameConfiguration: z.object({ CaseSensitive: z.literal(false).default(false) }).prefault({}),
  MfaConfiguration: z.enum(['OFF', 'OPTIONAL']).default('OFF'),
  LambdaConfig: z
    .strictObject({ DefineAuthChallenge: z.string(), CreateAuthChallenge: z.string(), VerifyAuthChallengeResponse: z.string() })
    .optional(),
  EnabledMfas: z.array(z.literal('SOFTWARE_TOKEN_MFA')).default([]),
  Policies: z
    .object({
      PasswordPolicy: z
        .object({
          MinimumLength: z.int().default(8),
          RequireLowercase: z.boolean().default(false),
          RequireUppercase: z.boolean().default(false),
          RequireNumbers: z.boolean().default(false),
          RequireSymbols: z.boolean().default(false),
          TemporaryPasswordValidityDays: z.int().default(7),
        })
        .prefault({}),
    })
    .prefault({}),
});

const ClientProperties = z.object({
  UserPoolId: z.string(),
  ExplicitAuthFlows: z.array(z.string()).default(['ALLOW_CUSTOM_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH', 'ALLOW_USER_SRP_AUTH']),
  RefreshTokenRotation: z.object({ Feature: z.enum(['ENABLED', 'DISABLED']), RetryGracePeriodSeconds: z.int().default(0) }).optional(),
  GenerateSecret: z.literal(false).default(false),
  AccessTokenValidity: z.int().default(1),
  IdTokenValidity: z.int().default(1),
  RefreshTokenValidity: z.int().default(30),
  TokenValidityUnits: z
    .object({ AccessToken: Unit.default('hours'), IdToken: Unit.default('hours'), RefreshToken: Unit.default('days') })
    .prefault({}),
});

/**
 * Reads an AWS::Cognito::UserPool and its clients. Throws an Error naming a pool or client that is not supported.
 */
export const interpretUserPool = (at: LocatedResource): UserPool => {
  const { stack, logicalId, resolve } = at;
  const id = String(resolve(stack, { Ref: logicalId }));
  const properties = readProperties(at, PoolProperties);
  const policy = properties.Policies.PasswordPolicy;
  const { LambdaConfig: triggers } = properties;
  return {
    id,
    logicalId,
    clients: interpretClients(at, id),
    ...(triggers && {
      triggers: {
        define: triggers.DefineAuthChallenge,
        create: triggers.CreateAuthChallenge,
        verify: triggers.VerifyAuthChallengeResponse,
      },
    }),
    hasTotp: properties.MfaConfiguration === 'OPTIONAL' && properties.EnabledMfas.includes('SOFTWARE_TOKEN_MFA'),
    passwords: {
      minLength: policy.MinimumLength,
      requiresLowercase: policy.RequireLowercase,
      requiresUppercase: policy.RequireUppercase,
      requiresDigits: policy.RequireNumbers,
      requiresSymbols: policy.RequireSymbols,
      temporaryValiditySeconds: policy.TemporaryPasswordValidityDays * UNIT_SECONDS.days,
    },
  };
};

const interpretClients = ({ stack, logicalId, resolve }: LocatedResource, poolId: string): UserPool['clients'] => {
  const [first, ...others] = [...stack.resources]
    .filter(([, resource]) => resource.type === 'AWS::Cognito::UserPoolClient')
    .map(([clientId, resource]) => ({
      id: String(resolve(stack, { Ref: clientId })),
      properties: readProperties({ stack, logicalId: clientId, resource, resolve }, ClientProperties),
    }))
    .filter(({ properties }) => properties.UserPoolId === poolId)
    .map(toClient);
  if (!first) throw new Error(`The user pool ${logicalId} in stack ${stack.name} must have a client`);
  return [first, ...others];
};

const toClient = ({ id, properties }: { id: string; properties: z.infer<typeof ClientProperties> }): UserPoolClient => {
  const { TokenValidityUnits: units, RefreshTokenRotation: rotation } = properties;
  return {
    id,
    authFlows: properties.ExplicitAuthFlows,
    ...(rotation?.Feature === 'ENABLED' && { rotationGraceSeconds: rotation.RetryGracePeriodSeconds }),
    accessTokenSeconds: properties.AccessTokenValidity * UNIT_SECONDS[units.AccessToken],
    idTokenSeconds: properties.IdTokenValidity * UNIT_SECONDS[units.IdToken],
    refreshTokenSeconds: properties.RefreshTokenValidity * UNIT_SECONDS[units.RefreshToken],
  };
};
