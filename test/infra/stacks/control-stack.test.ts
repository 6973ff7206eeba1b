import { expect, test } from '@jest/globals';
import { AUTH_PATHS, SIGN_IN_PATHS, SSO_PATHS } from '../../../shared/identity/auth-paths.ts';
import { templateOf } from '../../support/assembly/templates.ts';
import { all, byText, grantsOf, inTransactions, ofFunction } from './grants.ts';
import { functionOfPosts } from './host-template.ts';

test('lets the function control only read objects that it shows or links to, and store files of tickets', () => {
  const ofBuckets = grantsOf(templateOf('control'), 'ControlRole').filter(([action]) => action.startsWith('s3:'));
  expect(ofBuckets.sort(byText)).toEqual(
    [
      ...all('s3', ['GetObject'], ['BillingFiles/*', 'Payloads/org_*']),
      ...all('s3', ['GetObject', 'PutObject'], ['TicketFiles/pending/*', 'TicketFiles/kept/*']),
    ].sort(byText),
  );
});

test('serves those who have no session by functions of their own, and all others by control', () => {
  const posts = functionOfPosts(templateOf('control'));
  expect(posts).toEqual({
    ...Object.fromEntries(SIGN_IN_PATHS.map((path) => [path, 'sign-in'])),
    [AUTH_PATHS.token]: 'machine-sign-in',
    [SSO_PATHS.begin]: 'single-sign-on',
    [SSO_PATHS.session]: 'single-sign-on',
    [SSO_PATHS.browserSession]: 'single-sign-on',
  });
});

test('lets the function single-sign-on only create and sign in users, and read client secrets', () => {
  const grants = grantsOf(templateOf('control'), 'SingleSignOnRole');
  const ofUsers = [
    'AdminCreateUser',
    'AdminEnableUser',
    'AdminGetUser',
    'AdminInitiateAuth',
    'AdminRespondToAuthChallenge',
    'AdminSetUserMFAPreference',
    'AdminSetUserPassword',
    'AdminUserGlobalSignOut',
  ];
  const ofAccounts = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'];
  expect(grants.sort(byText)).toEqual(
    [
      ...ofFunction('SingleSignOnLogs'),
      ...all('dynamodb', ofAccounts, ['Accounts']),
      ...all('dynamodb', ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'], ['Attempts']),
      ...all('dynamodb', ['PutItem'], ['Audit'], inTransactions),
      ...all('cognito-idp', ofUsers, ['Users']),
      ...all('secretsmanager', ['GetSecretValue'], ['arn::secretsmanager:::secret:sluice-control/providers/*']),
    ].sort(byText),
  );
});

test('lets the function sign-in only check passwords and codes, count attempts, keep sessions, queue codes', () => {
  const grants = grantsOf(templateOf('control'), 'SignInRole');
  expect(grants.sort(byText)).toEqual(
    [
      ...ofFunction('SignInLogs'),
      ...all('dynamodb', ['DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'], ['Accounts']),
      ...all('dynamodb', ['GetItem', 'UpdateItem'], ['Attempts']),
      ...all('dynamodb', ['PutItem'], ['Audit'], inTransactions),
      ...all('sqs', ['DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage', 'SendMessage'], ['ResetMailsQueue']),
      ...all('cognito-idp', ['AdminGetUser', 'AdminInitiateAuth', 'AdminRespondToAuthChallenge', 'AdminUserGlobalSignOut'], ['Users']),
    ].sort(byText),
  );
});

test('lets machine-sign-in only read accounts, note tokens, open sessions and have keys created', () => {
  const grants = grantsOf(templateOf('control'), 'MachineSignInRole');
  expect(grants.sort(byText)).toEqual(
    [
      ...ofFunction('MachineSignInLogs'),
      ...all('dynamodb', ['BatchGetItem', 'PutItem', 'UpdateItem'], ['Accounts']),
      ...all('dynamodb', ['DeleteItem', 'PutItem', 'UpdateItem'], ['Attempts']),
      ...all('dynamodb', ['PutItem'], ['Audit'], inTransactions),
      ...all('cognito-idp', ['AdminInitiateAuth', 'AdminRespondToAuthChallenge'], ['Users']),
      ...all('lambda', ['InvokeFunction'], ['Control']),
    ].sort(byText),
  );
});

test('bounds requests for files of the console by the stage alone, since their function reads nothing', () => {
  expect(grantsOf(templateOf('control'), 'ConsoleRole').sort(byText)).toEqual(ofFunction('ConsoleLogs').sort(byText));
  templateOf('control').hasResourceProperties('AWS::ApiGateway::Stage', {
    MethodSettings: [{ HttpMethod: '*', ResourcePath: '/*', ThrottlingRateLimit: 500, ThrottlingBurstLimit: 250 }],
  });
});
