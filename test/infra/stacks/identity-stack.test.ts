import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { templateOf } from '../../support/assembly/templates.ts';

const identity = templateOf('identity');

describe('the identity stack', () => {
  test('has a user pool that is protected from deletion and has fixed logical ids', () => {
    const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
    expect(identity.findResources('AWS::Cognito::UserPool')).toEqual({ Users: expect.objectContaining(kept) });
    expect(identity.findResources('AWS::Cognito::UserPoolClient')).toEqual({
      UsersClient: expect.objectContaining(kept),
      UsersMachineClient: expect.objectContaining(kept),
      UsersBrowserClient: expect.objectContaining(kept),
    });
    identity.hasResourceProperties('AWS::Cognito::UserPool', { DeletionProtection: 'ACTIVE' });
    identity.hasOutput('UserPoolId', { Value: { Ref: 'Users' } });
    identity.hasOutput('UserPoolClientId', { Value: { Ref: 'UsersClient' } });
  });

  test('uses the cheapest plan of Cognito that rotates refresh tokens', () => {
    identity.hasResourceProperties('AWS::Cognito::UserPool', { UserPoolTier: 'ESSENTIALS' });
  });

  test('identifies users by email address in any case, lets only administrators invite, and uses no SMS', () => {
    identity.hasResourceProperties('AWS::Cognito::UserPool', {
      UsernameAttributes: ['email'],
      UsernameConfiguration: { CaseSensitive: false },
      AutoVerifiedAttributes: ['email'],
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      AccountRecoverySetting: { RecoveryMechanisms: [{ Name: 'verified_email', Priority: 1 }] },
      UserAttributeUpdateSettings: { AttributesRequireVerificationBeforeUpdate: ['email'] },
      MfaConfiguration: 'OPTIONAL',
      EnabledMfas: ['SOFTWARE_TOKEN_MFA'],
      SmsConfiguration: Match.absent(),
      Policies: {
        PasswordPolicy: {
          MinimumLength: 12,
          RequireLowercase: true,
          RequireUppercase: true,
          RequireNumbers: true,
          RequireSymbols: true,
          TemporaryPasswordValidityDays: 7,
        },
      },
    });
    identity.resourceCountIs('AWS::IAM::Role', 1);
  });

  const MINUTES = { AccessToken: 'minutes', IdToken: 'minutes', RefreshToken: 'minutes' };
  const THIRTY_DAYS = 30 * 24 * 60;

  test.each([
    ['UsersClient', 60, THIRTY_DAYS, ['ALLOW_ADMIN_USER_PASSWORD_AUTH', 'ALLOW_CUSTOM_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'], undefined],
    ['UsersMachineClient', 15, 60, ['ALLOW_CUSTOM_AUTH'], undefined],
    [
      'UsersBrowserClient',
      15,
      THIRTY_DAYS,
      ['ALLOW_ADMIN_USER_PASSWORD_AUTH', 'ALLOW_CUSTOM_AUTH'],
      { Feature: 'ENABLED', RetryGracePeriodSeconds: 60 },
    ],
  ])(
    'gives %s tokens for %i and %i minutes, passwords only through our host, and hides accounts',
    (id, access, refresh, flows, rotation) => {
      const { Properties } = identity.findResources('AWS::Cognito::UserPoolClient')[id] ?? {};
      expect(Properties).toEqual({
        UserPoolId: { Ref: 'Users' },
        ExplicitAuthFlows: flows,
        GenerateSecret: false,
        PreventUserExistenceErrors: 'ENABLED',
        EnableTokenRevocation: true,
        AllowedOAuthFlowsUserPoolClient: false,
        SupportedIdentityProviders: ['COGNITO'],
        AccessTokenValidity: access,
        IdTokenValidity: access,
        RefreshTokenValidity: refresh,
        TokenValidityUnits: MINUTES,
        ...(rotation && { RefreshTokenRotation: rotation }),
      });
    },
  );

  test('asks one function about sign-ins without a password, which can only use tickets up', () => {
    const arn = { 'Fn::GetAtt': [expect.stringMatching(/^AuthChallenge/), 'Arn'] };
    const [pool] = Object.values(identity.findResources('AWS::Cognito::UserPool'));
    const triggers = ['DefineAuthChallenge', 'CreateAuthChallenge', 'VerifyAuthChallengeResponse'];
    expect(pool?.Properties.LambdaConfig).toEqual(Object.fromEntries(triggers.map((name) => [name, arn])));
    const allowed = Object.values(identity.findResources('AWS::Lambda::Permission'));
    for (const { Properties } of allowed)
      expect(Properties).toEqual({
        Action: 'lambda:InvokeFunction',
        FunctionName: arn,
        Principal: 'cognito-idp.amazonaws.com',
        SourceArn: { 'Fn::GetAtt': ['Users', 'Arn'] },
      });
    expect(allowed).toHaveLength(triggers.length);
    const statements = Object.values(identity.findResources('AWS::IAM::Policy')).flatMap(
      ({ Properties }) => Properties.PolicyDocument.Statement,
    );
    expect(statements.flatMap(({ Action }) => Action).filter((action) => !/^(logs|xray):/.test(action))).toEqual(['dynamodb:DeleteItem']);
    identity.hasResourceProperties('AWS::Lambda::Function', {
      Timeout: 5,
      Environment: { Variables: { SLUICE_FUNCTION: 'auth-challenge' } },
    });
  });
});
