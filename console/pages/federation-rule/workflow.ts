import { type FederationRule, GITHUB_ISSUER } from '../federation-rules/rule-draft.ts';

interface Job {
  /** Without a slash at its end. */
  controlUrl: string;
  rule: Pick<FederationRule, 'id' | 'service_account' | 'audience' | 'issuer'>;
  /** True: the job asks for an API key instead of an access token. */
  wantsKey: boolean;
  /** Ends in `/v1`. */
  baseUrl: string;
}

const exchange = ({ wantsKey }: Job): string[] => [
  `${wantsKey ? 'API_KEY' : 'ACCESS_TOKEN'}=$(curl -sS --fail-with-body "$SLUICE_URL/v1/auth/token" \\`,
  '  --data-urlencode grant_type=urn:ietf:params:oauth:grant-type:token-exchange \\',
  '  --data-urlencode subject_token_type=urn:ietf:params:oauth:token-type:jwt \\',
  ...(wantsKey ? ['  --data-urlencode requested_token_type=urn:sluice:params:oauth:token-type:api_key \\'] : []),
  '  --data-urlencode subject_token="$JOB_TOKEN" \\',
  '  --data-urlencode client_id="$SERVICE_ACCOUNT" \\',
  '  --data-urlencode federation_rule="$FEDERATION_RULE" | jq -r .access_token)',
];

const call = ({ wantsKey, baseUrl }: Job): string =>
  wantsKey
    ? `curl -sS --fail-with-body ${baseUrl}/models -H "Authorization: Bearer $API_KEY"`
    : 'curl -sS --fail-with-body "$SLUICE_URL/v1/me" -H "Authorization: Bearer $ACCESS_TOKEN"';

const gitHubWorkflow = (job: Job): string => {
  const { controlUrl, rule, wantsKey } = job;
  const commands = [
    'JOB_TOKEN=$(curl -sSf -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\',
    '  "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=$AUDIENCE" | jq -r .value)',
    ...exchange(job),
    `echo "::add-mask::$${wantsKey ? 'API_KEY' : 'ACCESS_TOKEN'}"`,
    call(job),
  ];
  return [
    'on: workflow_dispatch',
    'permissions:',
    '  id-token: write',
    'jobs:',
    '  call:',
    '    runs-on: ubuntu-latest',
    '    env:',
    `      SLUICE_URL: ${controlUrl}`,
    `      AUDIENCE: ${rule.audience}`,
    `      SERVICE_ACCOUNT: ${rule.service_account}`,
    `      FEDERATION_RULE: ${rule.id}`,
    '    steps:',
    '      - run: |',
    ...commands.map((line) => `          ${line}`),
  ].join('\n');
};

const shellScript = (job: Job): string => {
  const { controlUrl, rule } = job;
  return [
    `SLUICE_URL=${controlUrl}`,
    `SERVICE_ACCOUNT=${rule.service_account}`,
    `FEDERATION_RULE=${rule.id}`,
    `JOB_TOKEN=…  # from the issuer, for the audience ${rule.audience}`,
    ...exchange(job),
    call(job),
  ].join('\n');
};

/** Code with which a job exchanges the token of its issuer. */
export const workflowsOf = (job: Job): readonly (readonly [name: string, code: string])[] => [
  ...(job.rule.issuer === GITHUB_ISSUER ? [['GitHub Actions', gitHubWorkflow(job)] as const] : []),
  ['Shell', shellScript(job)],
];
