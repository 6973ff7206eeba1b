import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ORGANIZATION_INDEX } from '../../shared/admission/stores/limiter-store.ts';
import { LIVE_INDEX } from '../../shared/deployments/deployment-store.ts';
import { CONSOLE_PATHS } from '../../shared/hosts/console-paths.ts';
import { AUTH_PATHS, SIGN_IN_PATHS, SSO_PATHS } from '../../shared/identity/auth-paths.ts';
import { prefixes } from '../../shared/ids/id.ts';
import { KEPT_FILES, PENDING_FILES } from '../../shared/tickets/ticket-files.ts';
import type { Config } from '../config/config.ts';
import { version } from '../config/release.ts';
import { organizationConcurrencyOf } from '../config/shares.ts';
import { acknowledgeUnexercised } from '../constructs/functions/acknowledge-unexercised.ts';
import { grantClientSecrets } from '../constructs/functions/client-secrets.ts';
import { grantDescribeEndpoints, grantInvokeEndpoints } from '../constructs/functions/endpoints.ts';
import { grantInvoke } from '../constructs/functions/invocation.ts';
import { NodeFunction } from '../constructs/functions/node-function.ts';
import { RestHost } from '../constructs/hosts/rest-host.ts';
import { AuditCopies } from '../constructs/queues/audit-copies.ts';
import { ResetMails } from '../constructs/queues/reset-mails.ts';
import type { BillingStack } from './billing-stack.ts';
import type { DataStack } from './data-stack.ts';
import type { DeploymentsStack } from './deployments-stack.ts';
import type { IdentityStack } from './identity-stack.ts';
import type { OndemandStack } from './ondemand-stack.ts';
import type { ServerlessStack } from './serverless-stack.ts';

// API Gateway waits no longer.
const TIMEOUT = Duration.seconds(29);

const OF_OLD_SESSIONS = 'A login deletes sessions that have expired, of which the tests of the local run have none.';

interface ControlStackProps {
  config: Config;
  data: DataStack;
  billing: BillingStack;
  deployments: DeploymentsStack;
  identity: IdentityStack;
  serverless: ServerlessStack;
  ondemand: OndemandStack;
}

/** The control plane: users, organizations, API keys, models and prices. */
export class ControlStack extends Stack {
  readonly host: RestHost;
  readonly function: NodeFunction;
  /** Serves those who have no session yet, so that nobody who has one waits behind them. */
  readonly signIn: NodeFunction;
  /** Signs service accounts in, so that no person waits behind a storm of jobs. */
  readonly machineSignIn: NodeFunction;
  /** Calls the identity providers of organizations, which can be slow. */
  readonly singleSignOn: NodeFunction;
  /** Serves the console, so that the files of its pages don't take executions from `control`. */
  readonly console: NodeFunction;
  readonly resetMails: ResetMails;
  /** Only if the configuration has `auditCopies`. */
  readonly auditCopies?: AuditCopies;

  constructor(scope: Construct, id: string, { config, data, billing, deployments, identity, serverless, ondemand }: ControlStackProps) {
    super(scope, id);
    this.function = new NodeFunction(this, 'Control', {
      config,
      name: 'control',
      timeout: TIMEOUT,
      reference: { host: 'control' },
    });
    this.function.addEnvironment('SLUICE_VERSION', version);
    this.function.addEnvironment('SLUICE_COMMIT', config.commit);
    data.accounts.grant(this.function, 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem');
    // Audit entries are only added, never changed or deleted.
    data.audit.grant(this.function, 'Query');
    data.audit.grantAdd(this.function);
    data.keys.grant(this.function, 'GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem');
    data.keys.grantIndex(this.function, ORGANIZATION_INDEX);
    data.models.grant(this.function, 'GetItem', 'Query', 'PutItem', 'DeleteItem', 'ConditionCheckItem');
    data.usage.grant(this.function, 'GetItem', 'Query');
    data.attempts.grant(this.function, 'GetItem', 'PutItem', 'UpdateItem');
    grantClientSecrets(this.function, 'write');
    data.billing.grant(this.function, 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem');
    data.notifications.grant(this.function, 'GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem');
    data.observability.grant(
      this.function,
      'GetItem',
      'BatchGetItem',
      'Query',
      'PutItem',
      'UpdateItem',
      'DeleteItem',
      'ConditionCheckItem',
    );
    data.tickets.grant(this.function, 'GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem');
    // A form and a presigned download have the permissions of the function that signs them.
    for (const prefix of [PENDING_FILES, KEPT_FILES]) data.ticketFiles.grantUnder(this.function, prefix, 's3:GetObject', 's3:PutObject');
    this.function.addEnvironment('SUPPORT_PROMISE', JSON.stringify(config.support.promise));
    data.payloads.grantUnder(this.function, prefixes.organization, 's3:GetObject');
    // A presigned download has the permissions of the function that signs it.
    data.billingFiles.grantRead(this.function);
    billing.tasks.grantSend(this.function);
    // A webhook with an address that it could not be delivered to is rejected when it is created.
    this.function.addEnvironment('ALLOWED_NETWORKS', config.notifications.allowedNetworks.join(','));
    identity.users.grant(
      this.function,
      'AdminCreateUser',
      'AdminDeleteUser',
      'AdminDisableUser',
      'AdminEnableUser',
      'AdminGetUser',
      'AdminInitiateAuth',
      'AdminRespondToAuthChallenge',
      'AdminSetUserMFAPreference',
      'AdminSetUserPassword',
      'AdminUserGlobalSignOut',
    );
    grantDescribeEndpoints(this.function, config);
    grantInvokeEndpoints(this.function, config);
    grantInvoke(this.function, serverless.tokenizer, 'TOKENIZER_FUNCTION');
    data.deployments.grant(this.function, 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'ConditionCheckItem');
    data.deployments.grantIndex(this.function, LIVE_INDEX);
    grantInvoke(this.function, deployments.function, 'DEPLOYMENTS_FUNCTION');
    data.weights.tellName(this.function);
    this.function.addEnvironment('ORGANIZATION_CONCURRENCY', String(organizationConcurrencyOf(config)));
    this.function.addEnvironment('HUB_MODELS', String(config.deployments.hubModels));

    this.host = new RestHost(this, 'Host', {
      config,
      name: 'control',
      fallback: this.function,
      authorization:
        'The function verifies access tokens, because it reads the user’s permissions for every request and can accept tokens of another issuer.',
    });
    this.function.addEnvironment('CONTROL_URL', this.host.url);
    this.signIn = new NodeFunction(this, 'SignIn', { config, name: 'sign-in', timeout: TIMEOUT });
    data.accounts.grant(this.signIn, 'GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem');
    acknowledgeUnexercised(this.signIn.role, { actions: ['dynamodb:DeleteItem'], resource: data.accounts.table.tableArn }, OF_OLD_SESSIONS);
    data.audit.grantAdd(this.signIn);
    data.attempts.grant(this.signIn, 'GetItem', 'UpdateItem');
    identity.users.grant(this.signIn, 'AdminGetUser', 'AdminInitiateAuth', 'AdminRespondToAuthChallenge', 'AdminUserGlobalSignOut');
    this.resetMails = new ResetMails(this, 'ResetMails');
    this.resetMails.grantSend(this.signIn);
    this.resetMails.deliverTo(this.signIn);
    for (const path of SIGN_IN_PATHS) this.host.post(path, this.signIn);
    this.machineSignIn = new NodeFunction(this, 'MachineSignIn', { config, name: 'machine-sign-in', timeout: TIMEOUT });
    this.machineSignIn.addEnvironment('ALLOWED_NETWORKS', config.notifications.allowedNetworks.join(','));
    data.accounts.grant(this.machineSignIn, 'BatchGetItem', 'UpdateItem', 'PutItem');
    data.audit.grantAdd(this.machineSignIn);
    data.attempts.grant(this.machineSignIn, 'UpdateItem', 'PutItem', 'DeleteItem');
    identity.users.grant(this.machineSignIn, 'AdminInitiateAuth', 'AdminRespondToAuthChallenge');
    grantInvoke(this.machineSignIn, this.function, 'CONTROL_FUNCTION');
    this.host.post(AUTH_PATHS.token, this.machineSignIn);
    this.singleSignOn = this.#singleSignOn({ config, data, identity });
    this.console = this.#console({ config, data, serverless, ondemand });
    if (data.auditCopies) this.auditCopies = new AuditCopies(this, 'AuditCopies', { config, audit: data.audit, bucket: data.auditCopies });
    new CfnOutput(this, 'ControlUrl', { value: `${this.host.url}/v1`, description: 'The base URL of the control plane.' });
  }

  #console({ config, data, serverless, ondemand }: Pick<ControlStackProps, 'config' | 'data' | 'serverless' | 'ondemand'>): NodeFunction {
    const fn = new NodeFunction(this, 'Console', { config, name: 'console', timeout: TIMEOUT, hasConsole: true });
    fn.addEnvironment('SLUICE_VERSION', version);
    fn.addEnvironment('SLUICE_COMMIT', config.commit);
    fn.addEnvironment('SERVERLESS_URL', serverless.host.url);
    fn.addEnvironment('ONDEMAND_URL', ondemand.host.url);
    fn.addEnvironment('HUB_MODELS', String(config.deployments.hubModels));
    data.ticketFiles.tellName(fn);
    this.host.getBelow(CONSOLE_PATHS.page, fn);
    this.host.get(CONSOLE_PATHS.configuration, fn);
    return fn;
  }

  #singleSignOn({ config, data, identity }: Pick<ControlStackProps, 'config' | 'data' | 'identity'>): NodeFunction {
    const fn = new NodeFunction(this, 'SingleSignOn', { config, name: 'single-sign-on', timeout: TIMEOUT });
    data.accounts.grant(fn, 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem');
    acknowledgeUnexercised(fn.role, { actions: ['dynamodb:DeleteItem'], resource: data.accounts.table.tableArn }, OF_OLD_SESSIONS);
    data.audit.grantAdd(fn);
    data.attempts.grant(fn, 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem');
    identity.users.grant(
      fn,
      'AdminCreateUser',
      'AdminEnableUser',
      'AdminGetUser',
      'AdminInitiateAuth',
      'AdminRespondToAuthChallenge',
      'AdminSetUserMFAPreference',
      'AdminSetUserPassword',
      'AdminUserGlobalSignOut',
    );
    acknowledgeUnexercised(
      fn.role,
      { actions: ['cognito-idp:AdminEnableUser', 'cognito-idp:AdminSetUserMFAPreference', 'cognito-idp:AdminUserGlobalSignOut'] },
      'A first login that crashed has left a user at Cognito, whom the next one resets.',
    );
    grantClientSecrets(fn, 'read');
    fn.addEnvironment('ALLOWED_NETWORKS', config.notifications.allowedNetworks.join(','));
    fn.addEnvironment('CONTROL_URL', this.host.url);
    this.host.post(SSO_PATHS.begin, fn);
    this.host.get(SSO_PATHS.authorize, fn);
    this.host.get(SSO_PATHS.callback, fn);
    this.host.post(SSO_PATHS.session, fn);
    this.host.post(SSO_PATHS.browserSession, fn);
    return fn;
  }
}
