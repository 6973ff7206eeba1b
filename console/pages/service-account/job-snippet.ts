import type { ServiceAccount } from '../service-accounts/account-draft.ts';

// Each needs only the permission at its left.
const CALLS: readonly (readonly [permission: string, path: string])[] = [
  ['usage:read', "/v1/organization/costs?start_time=$(date -d '1 day ago' +%s)"],
  ['keys:read', '/v1/api-keys'],
  ['models:read', '/v1/models'],
  ['deployments:read', '/v1/deployments'],
  ['audit:read', '/v1/audit-log'],
  ['billing:read', '/v1/billing/invoices'],
];

/** The path of a request that an account may send, to try its access token with. */
export const examplePath = ({ effective_permissions }: Pick<ServiceAccount, 'effective_permissions'>): string =>
  CALLS.find(([permission]) => effective_permissions.includes(permission))?.[1] ?? '/v1/me';

interface Job {
  /** Without a slash at its end. */
  controlUrl: string;
  account: Pick<ServiceAccount, 'id' | 'effective_permissions'>;
}

const commandsOf = ({ account }: Job): string[] => [
  'ACCESS_TOKEN=$(curl -sS --fail-with-body "$SLUICE_URL/v1/auth/token" \\',
  '  -u "$SERVICE_ACCOUNT:$SERVICE_ACCOUNT_SECRET" -d grant_type=client_credentials | jq -r .access_token)',
  `curl -sS --fail-with-body "$SLUICE_URL${examplePath(account)}" -H "Authorization: Bearer $ACCESS_TOKEN"`,
];

const indented = (lines: readonly string[], spaces: number): string[] => lines.map((line) => ' '.repeat(spaces) + line);

/**
 * Code with which a job uses a secret of an account. It reads the secret from the variable `SERVICE_ACCOUNT_SECRET`.
 */
export const jobSnippets = (job: Job): readonly (readonly [language: string, code: string])[] => {
  const { controlUrl, account } = job;
  return [
    ['Shell', [`SLUICE_URL=${controlUrl}`, `SERVICE_ACCOUNT=${account.id}`, ...commandsOf(job)].join('\n')],
    [
      'GitHub Actions',
      [
        'on: workflow_dispatch',
        'jobs:',
        '  call:',
        '    runs-on: ubuntu-latest',
        '    env:',
        `      SLUICE_URL: ${controlUrl}`,
        `      SERVICE_ACCOUNT: ${account.id}`,
        `      SERVICE_ACCOUNT_SECRET: \${{ secrets.SERVICE_ACCOUNT_SECRET }}`,
        '    steps:',
        '      - run: |',
        ...indented(commandsOf(job), 10),
      ].join('\n'),
    ],
    [
      'GitLab CI',
      [
        'call:',
        '  variables:',
        `    SLUICE_URL: ${controlUrl}`,
        `    SERVICE_ACCOUNT: ${account.id}`,
        '  script:',
        '    - |',
        ...indented(commandsOf(job), 6),
      ].join('\n'),
    ],
  ];
};
