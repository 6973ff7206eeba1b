import * as z from 'zod';
import type { UserPool } from './local-app.ts';
import { type LocatedResource, readProperties } from './located-resource.ts';

const UNIT_SECONDS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
const Unit = z.enum(['seconds', 'minutes', 'hours', 'days']);

const PoolProperties = z.object({
  // Other kinds of username and a required second factor are not supported.
  UsernameAttributes: z.tuple([z.literal('email')]),
  UsernameConfiguration: z.object({ CaseSensitive: z.literal(false).default(false) }).prefault({}),
  MfaConfiguration: z.enum(['OFF', 'OPTIONAL']).default('OFF'),
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
  GenerateSecret: z.literal(false).default(false),
  AccessTokenValidity: z.int().default(1),
  IdTokenValidity: z.int().default(1),
  RefreshTokenValidity: z.int().default(30),
  TokenValidityUnits: z
    .object({ AccessToken: Unit.default('hours'), IdToken: Unit.default('hours'), RefreshToken: Unit.default('days') })
    .prefault({}),
});

/**
 * Reads an AWS::Cognito::UserPool and its one client. Throws an Error naming a pool or client that is not supported.
 */
export const interpretUserPool = (at: LocatedResource): UserPool => {
  const { stack, logicalId, resolve } = at;
  const id = String(resolve(stack, { Ref: logicalId }));
  const properties = readProperties(at, PoolProperties);
  const policy = properties.Policies.PasswordPolicy;
  return {
    id,
    logicalId,
    client: interpretClient(at, id),
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

const interpretClient = ({ stack, logicalId, resolve }: LocatedResource, poolId: string): UserPool['client'] => {
  const clients = [...stack.resources]
    .filter(([, resource]) => resource.type === 'AWS::Cognito::UserPoolClient')
    .map(([clientId, resource]) => ({
      clientId,
      properties: readProperties({ stack, logicalId: clientId, resource, resolve }, ClientProperties),
    }))
    .filter(({ properties }) => properties.UserPoolId === poolId);
  const [client] = clients;
  if (!client || clients.length > 1) throw new Error(`The user pool ${logicalId} in stack ${stack.name} must have exactly one client`);
  const { properties } = client;
  const units = properties.TokenValidityUnits;
  return {
    id: String(resolve(stack, { Ref: client.clientId })),
    accessTokenSeconds: properties.AccessTokenValidity * UNIT_SECONDS[units.AccessToken],
    idTokenSeconds: properties.IdTokenValidity * UNIT_SECONDS[units.IdToken],
    refreshTokenSeconds: properties.RefreshTokenValidity * UNIT_SECONDS[units.RefreshToken],
  };
};
