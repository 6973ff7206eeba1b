import { describe, expect, test } from '@jest/globals';
import type { Template } from 'aws-cdk-lib/assertions';
import { readConfig } from '../../../infra/config/config.ts';
import { options } from '../../support/assembly/every-option.ts';
import { stackNames, templateOf, templatesWith } from '../../support/assembly/templates.ts';

// Usually a few seconds; more on a machine that runs other tests.
const SYNTHESIS_MS = 180_000;

const { tables } = options.tables;
const { streamArn } = tables.usage;

const exportsOf = (template: Template): string[] =>
  Object.values(template.toJSON().Outputs as Record<string, { Export?: { Name: string } }>).flatMap(({ Export }) => Export?.Name ?? []);
const textOf = (template: Template): string => JSON.stringify(template.toJSON());

describe('adopted tables', () => {
  test(
    'are used by every function instead of the own ones, which stay with all that other stacks import',
    async () => {
      const templates = await templatesWith(options.tables);
      const [before, after] = [templateOf('data'), templates('data')];
      const created = (template: Template) => Object.keys(template.findResources('AWS::DynamoDB::GlobalTable')).sort();
      expect(created(after)).toEqual(created(before));
      expect(exportsOf(before).filter((name) => !exportsOf(after).includes(name))).toEqual([]);
      expect(after.toJSON().Outputs.UsageTable.Value).toBe('usage-2');
      for (const stack of stackNames.filter((name) => name !== 'data')) {
        const text = textOf(templates(stack));
        // Other stacks refer to the own tables by their logical ids.
        expect({ stack, imports: /sluice-data:ExportsOutput[A-Za-z]*(Usage|Responses)/.test(text) }).toEqual({ stack, imports: false });
        expect(text.includes('usage-2')).toBe(/UsageTable|USAGE_TABLE|ExportsOutput[A-Za-z]*Usage/.test(textOf(templateOf(stack))));
      }
      const streams = Object.values(templates('operations').findResources('AWS::Lambda::EventSourceMapping'));
      const all = [
        ...streams,
        ...stackNames.flatMap((name) => Object.values(templates(name).findResources('AWS::Lambda::EventSourceMapping'))),
      ];
      expect(all.filter(({ Properties }) => Properties.EventSourceArn === streamArn).length).toBeGreaterThan(0);
    },
    SYNTHESIS_MS,
  );

  test.each([
    [{ usage: { name: 'usage-2' } }, /streamArn of usage and notifications/],
    [{ usages: { name: 'usage-2' } }, /usages/],
    [{ keys: { name: 'a b' } }, /the name of a table/],
    [{ keys: { name: 'keys-2', streamArn: 'arn:aws:s3:::x' } }, /the ARN of a stream/],
    [{ usage: { name: 'usage-3', streamArn } }, /tables\.usage\.streamArn: expected the ARN of a stream of this table/],
  ])('are rejected if they can’t be used: %j', (invalid, message) => expect(() => readConfig({ tables: invalid })).toThrow(message));

  test('need the stream of the audit log if copies are made from it', () => {
    const settings = { auditCopies: { days: 30 }, tables: { audit: { name: 'audit-2' } } };
    expect(() => readConfig(settings)).toThrow(/streamArn, because auditCopies/);
    const audit = { name: 'audit-2', streamArn: streamArn.replace('usage', 'audit') };
    expect(readConfig({ ...settings, tables: { audit } }).tables).toEqual({ audit });
  });
});
