import path from 'node:path';
import { ACCOUNT_ID, REGION } from '../../../infra/local/assembly/resolve.ts';
import type { Granted, GrantedRole } from './grants.ts';

export const DOCUMENT = path.join(import.meta.dirname, '../../../docs/permissions.md');

const INTRODUCTION = `# Permissions

What each function may do in your account, with the default configuration. A test compares this page with the synthesized policies, and
\`WRITE_PERMISSIONS=1 npm test -- permissions/document\` writes it again.

In the tests, a local run checks every AWS call of a function against the policies of its role: actions, resources and conditions
([decision 0057](decisions/0057-the-local-run-checks-permissions.md)). A call that they do not allow is denied, as on AWS, and fails the test. The last
column says why a permission is needed if no function makes the call itself.

Resources are shown without partition, region and account. A permission with a condition holds only if the condition does.
`;

const short = (resource: string): string =>
  resource
    .replace(`:${REGION}:${ACCOUNT_ID}:`, ':')
    .replace(`:${ACCOUNT_ID}:`, ':')
    .replace(/^arn:aws:/, '');

const conditionOf = ({ condition }: Granted): string =>
  Object.entries(condition)
    .flatMap(([operator, keys]) => Object.entries(keys).map(([key, values]) => `\`${key}\` ${operator} \`${values.join('`, `')}\``))
    .join('; ');

const rowOf = (granted: Granted): string =>
  `| \`${granted.action}\` | \`${short(granted.resource)}\` | ${conditionOf(granted)} | ${granted.reason ?? ''} |`;

/** The page with all permissions. */
export const toDocument = (roles: readonly GrantedRole[]): string =>
  [
    INTRODUCTION,
    ...roles.map(({ name, granted }) =>
      [`## ${name}\n`, '| Action | Resource | Condition | Why |', '| --- | --- | --- | --- |', ...granted.map(rowOf), ''].join('\n'),
    ),
  ].join('\n');
