import type { Template } from 'aws-cdk-lib/assertions';

interface Statement {
  Effect: 'Allow';
  Action: string | string[];
  Resource: unknown;
  Condition?: object;
}
type Grant = readonly [action: string, resource: string, condition?: object];

const toGrant = (action: string, resource: string, condition?: object): Grant =>
  condition ? [action, resource, condition] : [action, resource];

// Without account and region; an import is the logical id of what it imports.
const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const [[name, argument] = ['', '']] = Object.entries(value as Record<string, unknown>);
  if (name === 'Fn::Join') return (argument as [string, unknown[]])[1].map(textOf).join('');
  if (name === 'Ref') return String(argument).startsWith('AWS::') ? '' : String(argument).replace(/[0-9A-F]{8}$/, '');
  if (name === 'Fn::GetAtt') return (argument as string[])[0]?.replace(/[0-9A-F]{8}$/, '') ?? '';
  return /ExportsOutput(?:FnGetAtt|Ref)([A-Za-z]+?)(?:[0-9A-F]{8})?(?:Arn)?[0-9A-F]{8}$/.exec(String(argument))?.[1] ?? String(argument);
};

const statementsOf = (template: Template, role: string): Statement[] => {
  const [, policy] = Object.entries(template.findResources('AWS::IAM::Policy')).find(([id]) => id.startsWith(role)) ?? [];
  return policy?.Properties.PolicyDocument.Statement ?? [];
};

/** Returns the permissions of a role. @param role how the logical id of its policy begins */
export const grantsOf = (template: Template, role: string): Grant[] =>
  statementsOf(template, role).flatMap(({ Action, Resource, Condition }) =>
    [Action].flat().flatMap((action) => [Resource].flat().map((resource) => toGrant(action, textOf(resource), Condition))),
  );

export const byText = (a: Grant, b: Grant): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
/** Each of these actions on each of these resources. */
export const all = (service: string, names: readonly string[], resources: readonly string[], condition?: object): Grant[] =>
  names.flatMap((name) => resources.map((resource) => toGrant(`${service}:${name}`, resource, condition)));

/** The condition of what can only be added in transactions. */
export const inTransactions = { 'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] } };

/** The permissions that every function has. */
export const ofFunction = (logs: string): Grant[] => [
  ...all('logs', ['CreateLogStream', 'PutLogEvents'], [logs]),
  ...all('xray', ['PutTraceSegments', 'PutTelemetryRecords'], ['*']),
];
