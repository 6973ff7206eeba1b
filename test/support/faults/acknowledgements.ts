import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';

const Report = z.object({
  pluginReports: z.array(
    z.object({
      pluginName: z.string(),
      violations: z.array(z.object({ ruleName: z.string() })),
      suppressedViolations: z.array(z.object({ acknowledgedId: z.string(), acknowledgedAt: z.string() })),
    }),
  ),
});

const Metadata = z.record(z.string(), z.array(z.object({ type: z.string(), data: z.unknown() })));
const Acknowledged = z.record(z.string(), z.string());
const ACKNOWLEDGED = 'aws:cdk:acknowledged-rules';
const METADATA_FILE = '.metadata.json';

interface Acknowledgement {
  construct: string;
  rule: string;
  reason: string;
}

const readJson = (...parts: string[]): unknown => JSON.parse(readFileSync(path.join(...parts), 'utf8'));

/**
 * An assembly's report on the rules of cdk-nag: the broken ones, the acknowledgements, and those acknowledgements that
 * nothing needs.
 */
export const readAcknowledgements = (folder: string) => {
  const { pluginReports } = Report.parse(readJson(folder, 'validation-report.json'));
  const nag = pluginReports.find(({ pluginName }) => pluginName === 'AwsSolutions');
  if (!nag) throw new Error(`${folder} has no report of cdk-nag.`);
  const made = readdirSync(folder)
    .filter((file) => file.endsWith(METADATA_FILE))
    .flatMap((file) => Object.entries(Metadata.parse(readJson(folder, file))).flatMap(ofConstruct));
  const needed = new Set(nag.suppressedViolations.map(({ acknowledgedAt, acknowledgedId }) => `${acknowledgedAt} ${acknowledgedId}`));
  return { broken: nag.violations, made, unneeded: made.filter(({ construct, rule }) => !needed.has(`${construct} ${rule}`)) };
};

const ofConstruct = ([construct, entries]: [string, z.output<typeof Metadata>[string]]): Acknowledgement[] =>
  entries
    .filter(({ type }) => type === ACKNOWLEDGED)
    .flatMap(({ data }) => Object.entries(Acknowledged.parse(data)))
    .map(([rule, reason]) => ({ construct: construct.replace(/^\//, ''), rule, reason }));
