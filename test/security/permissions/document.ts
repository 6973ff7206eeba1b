import path from 'node:path';
import { ACCOUNT_ID, REGION } from '../../../infra/assembly/resolve.ts';
import { type Named, permissionsOf } from './exercised.ts';
import type { GrantedRole } from './grants.ts';

export const DOCUMENT = path.join(import.meta.dirname, '../../../docs/permissions.md');

const INTRODUCTION = `# Permissions (generated)

What each function may do in your account, with the default configuration. A test compares this page with the synthesized policies.

In the tests, a local run checks every AWS call of a function against the policies of its role: actions, resources and conditions
([decision 0057](decisions/0057-the-local-run-checks-iam-permissions.md)). A call that they do not allow is denied, as on AWS, and fails the test. A permission
that no test uses fails \`npm test\` too, unless the code says why it is needed. The last column names a test that uses the permission, or says why none
does.

Resources are shown without partition, region and account. A permission with a condition holds only if the condition does.

To write this page again, record which tests use which permissions, into an empty folder:

\`\`\`sh
RECORD_PERMISSIONS=<folder> npm test
WRITE_PERMISSIONS=<folder> npm test -- permissions/document
\`\`\`
`;

const short = (resource: string): string =>
  resource
    .replace(`:${REGION}:${ACCOUNT_ID}:`, ':')
    .replace(`:${ACCOUNT_ID}:`, ':')
    .replace(/^arn:aws:/, '');

type Permission = ReturnType<typeof permissionsOf>[number];

const conditionOf = ({ condition }: Permission): string =>
  Object.entries(condition)
    .flatMap(([operator, keys]) => Object.entries(keys).map(([key, values]) => `\`${key}\` ${operator} \`${values.join('`, `')}\``))
    .join('; ');

const exercisedBy = ({ id, reason }: Permission, named: Named): string => {
  const suite = named.get(id);
  return suite === undefined ? (reason ?? '') : `\`test/${suite}\``;
};

const rowOf = (permission: Permission, named: Named): string =>
  `| \`${permission.action}\` | \`${short(permission.resource)}\` | ${conditionOf(permission)} | ${exercisedBy(permission, named)} |`;

/**
 * The page with all permissions. @param named a suite that uses each of them; a permission without one shows its
 * reason
 */
export const toDocument = (roles: readonly GrantedRole[], named: Named): string =>
  [
    INTRODUCTION,
    ...roles.map((role) =>
      [
        `## ${role.name}\n`,
        '| Action | Resource | Condition | Exercised by |',
        '| --- | --- | --- | --- |',
        ...permissionsOf([role]).map((each) => rowOf(each, named)),
        '',
      ].join('\n'),
    ),
  ].join('\n');

/** The suites that a page names, by the ids of the permissions. */
export const readNamed = (document: string, roles: readonly GrantedRole[]): Map<string, string> => {
  const named = new Map<string, string>();
  for (const role of roles) {
    const section = document.split(`\n## ${role.name}\n`)[1]?.split('\n## ')[0] ?? '';
    for (const each of permissionsOf([role])) {
      const row = section.split('\n').find((line) => line.startsWith(`| \`${each.action}\` | \`${short(each.resource)}\` |`));
      const suite = /`test\/([^`]+\.test\.ts)` \|$/.exec(row ?? '')?.[1];
      if (suite !== undefined) named.set(each.id, suite);
    }
  }
  return named;
};
