import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { rejectKeptByNpm } from '../kept-by-npm.ts';

const CONTEXT_KEY = 'sluice';

const CdkJson = z.object({ context: z.record(z.string(), z.unknown()).default({}), requireApproval: z.string().optional() });

/** The flags of `cdk deploy` that `npm run deploy` reads. It passes all of them on. */
export interface CommandLine {
  /** The deployer's settings, before validation: the context `sluice` of the command line, else of cdk.json. */
  context: unknown;
  /** The AWS profile, if one is given. */
  profile: string | undefined;
  /** True if the CDK deploys without asking before each stack that adds permissions. */
  isApproved: boolean;
}

const OPTIONS = {
  context: { type: 'string', short: 'c', multiple: true },
  profile: { type: 'string' },
  'require-approval': { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
} as const;

/** A value of the command line that no setting has. */
export class UnknownContext extends Error {}

// The CDK's own keys have a prefix. Any other would have no effect, and the command would change another installation.
const checkKey = (assignment: string, known: object): void => {
  const key = assignment.split('=', 1)[0] ?? '';
  if (key === CONTEXT_KEY || key.includes(':') || Object.hasOwn(known, key)) return;
  throw new UnknownContext(
    `Nothing reads the context '${key}'. Settings are one JSON object, the context '${CONTEXT_KEY}', such as: -c ${CONTEXT_KEY}='{"name":"sluice-test"}'`,
  );
};

/** Reads the flags of `cdk deploy` and cdk.json. @throws KeptByNpm, UnknownContext */
export const readCommandLine = (flags: readonly string[], cdkJsonFile: string): CommandLine => {
  rejectKeptByNpm(OPTIONS, flags);
  const { values } = parseArgs({ args: [...flags], strict: false, options: OPTIONS });
  const cdkJson = CdkJson.parse(JSON.parse(readFileSync(cdkJsonFile, 'utf8')));
  const assignments = (values.context ?? []).map(String);
  for (const assignment of assignments) checkKey(assignment, cdkJson.context);
  const given = assignments.findLast((assignment) => assignment.startsWith(`${CONTEXT_KEY}=`));
  return {
    context: given?.slice(CONTEXT_KEY.length + 1) ?? cdkJson.context[CONTEXT_KEY],
    profile: typeof values.profile === 'string' ? values.profile : undefined,
    isApproved: values.yes === true || (values['require-approval'] ?? cdkJson.requireApproval) === 'never',
  };
};

/** The flags that set the deployer's settings for `cdk deploy`. Of several, the CDK takes the last. */
export const flagsOfSettings = (settings: object): string[] => ['--context', `${CONTEXT_KEY}=${JSON.stringify(settings)}`];
