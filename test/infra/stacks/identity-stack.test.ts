import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { templateOf } from '../../support/assembly/templates.ts';

const identity = templateOf('identity');

describe('the identity stack', () => {
  test('has a user pool that is protected from deletion and has fixed logical ids', () => {
    const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
    expect(identity.findResources('AWS::Cognito::UserPool')).toEqual({ Users: expect.objectContaining(kept) });
    expect(identity.findResources('AWS::Cognito::UserPoolClient')).toEqual({ UsersClient: expect.objectContaining(kept) });
    identity.hasResourceProperties('AWS::Cognito::UserPool', { DeletionProtection: 'ACTIVE' });
    identity.hasOutput('UserPoolId', { Value: { Ref: 'Users' } });
    identity.hasOutput('UserPoolClientId', { Value: { Ref: 'UsersClient' } });
  });

  test('uses the cheapest plan of Cognito', () => {
    identity.hasResourceProperties('AWS::Cognito::UserPool', { UserPoolTier: 'LITE' });
  });

  test('identifies users by e-mail address in any case, lets only administrators invite, and uses no SMS', () => {
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
    identity.resourceCountIs('AWS::IAM::Role', 0);
  });

  test('accepts passwords only through our host, hides accounts, and issues one-hour tokens for 30 days', () => {
    identity.hasResourceProperties('AWS::Cognito::UserPoolClient', {
      ExplicitAuthFlows: ['ALLOW_ADMIN_USER_PASSWORD_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'],
      GenerateSecret: false,
      PreventUserExistenceErrors: 'ENABLED',
      EnableTokenRevocation: true,
      AllowedOAuthFlowsUserPoolClient: false,
      AllowedOAuthFlows: Match.absent(),
      AccessTokenValidity: 60,
      IdTokenValidity: 60,
      RefreshTokenValidity: 30 * 24 * 60,
      TokenValidityUnits: { AccessToken: 'minutes', IdToken: 'minutes', RefreshToken: 'minutes' },
    });
  });
});
