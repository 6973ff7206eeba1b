import type { Stack } from '../../assembly/read-assembly.ts';

/** A resource that stays when its stack is deleted. */
export interface Leftover {
  stack: string;
  logicalId: string;
  /** The type in CloudFormation, such as `AWS::S3::Bucket`. */
  type: string;
}

// An update that replaces them retains them, but deleting the stack deletes them with their function.
const DELETED_WITH_OTHERS: ReadonlySet<string> = new Set(['AWS::Lambda::Version']);

/** The resources that the templates retain, and that nothing else in their stack takes with it. */
export const leftoversOf = (stacks: readonly Stack[]): Leftover[] =>
  stacks.flatMap(({ name, resources }) =>
    [...resources].flatMap(([logicalId, { type, deletionPolicy = 'Delete' }]) =>
      deletionPolicy === 'Delete' || DELETED_WITH_OTHERS.has(type) ? [] : [{ stack: name, logicalId, type }],
    ),
  );

const DELETION_COMMANDS: Readonly<Record<string, (name: string) => readonly string[]>> = {
  'AWS::DynamoDB::GlobalTable': (name) => [
    `aws dynamodb update-table --table-name ${name} --no-deletion-protection-enabled`,
    `aws dynamodb delete-table --table-name ${name}`,
  ],
  'AWS::S3::Bucket': (name) => [
    '# Delete all versions of all objects first, in the console (Empty) or with a lifecycle rule.',
    `aws s3api delete-bucket --bucket ${name}`,
  ],
  'AWS::Cognito::UserPool': (name) => [
    `aws cognito-idp update-user-pool --user-pool-id ${name} --deletion-protection INACTIVE`,
    `aws cognito-idp delete-user-pool --user-pool-id ${name}`,
  ],
  'AWS::Cognito::UserPoolClient': () => ['# Deleted with its user pool.'],
  'AWS::KMS::Key': (name) => [
    '# Only when nothing that it encrypts is needed any more, backups included.',
    `aws kms schedule-key-deletion --key-id ${name}`,
  ],
  'AWS::IAM::Role': (name) => [
    '# Only if no other API of the account and region writes logs with it. Detach its policies first.',
    `aws iam delete-role --role-name ${name}`,
  ],
  'AWS::ApiGateway::Account': () => [
    "# A setting of the account: clear the log role in API Gateway's settings, unless other APIs need it.",
  ],
};

/** The commands and remarks that delete a leftover. @throws Error for an unknown type */
export const deletionOf = (type: string, name: string): readonly string[] => {
  const deletion = DELETION_COMMANDS[type];
  if (!deletion) throw new Error(`No deletion command is known for ${type}. Add it to infra/tools/teardown/leftovers.ts.`);
  return deletion(name);
};
