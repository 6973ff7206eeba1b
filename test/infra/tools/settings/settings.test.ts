import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import * as z from 'zod';
import { Config, readConfig } from '../../../../infra/config/config.ts';
import { setting, settings } from '../../../../infra/config/setting.ts';
import { editorSchema } from '../../../../infra/tools/settings/editor-schema.ts';
import { readSettings, type SettingSchema, settingsIn } from '../../../../infra/tools/settings/read-settings.ts';
import { settingsPage } from '../../../../infra/tools/settings/settings-page.ts';
import { everyOption } from '../../../support/assembly/every-option.ts';

const ROOT = path.join(import.meta.dirname, '../../../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const all = settingsIn(readSettings());

describe('docs/settings.md', () => {
  test('is the one that npm run settings writes', () => {
    expect(read('docs/settings.md')).toBe(settingsPage());
  });

  test('has a heading for every key, and the type, default, cost and example of every setting', () => {
    const page = settingsPage();
    for (const key of Object.keys(Config.shape)) expect(page).toMatch(new RegExp(`^## \`${key}\`$`, 'm'));
    const names = new Set(all.map(({ path: name }) => name.replace(/^hosts\.\w+\./, 'hosts.<host>.')));
    for (const name of names) {
      const [, entry = ''] = page.split(new RegExp(`^##+ \`${name}\`\n`, 'm'));
      expect({ name, entry }).toEqual({
        name,
        entry: expect.stringMatching(/^\n.+\n\n- Type: .+\n- Default: .+\n- Costs: .+\n- Example:/),
      });
    }
  });

  test('has the amounts of docs/cost.md', () => {
    const amounts = all.flatMap(({ schema }) => schema.cost.match(/\$\d[\d.]*\d/g) ?? []);
    expect(amounts.length).toBeGreaterThan(10);
    const cost = read('docs/cost.md');
    expect(amounts.filter((amount) => !cost.includes(`${amount} `))).toEqual([]);
  });
});

describe('setting', () => {
  test.each(all.map(({ path: name, schema }) => [name, schema.example] as const))('%s has an example that is accepted', (name, example) => {
    expect(() => readConfig(example)).not.toThrow();
    const key = name.startsWith('hosts.') ? ['hosts', 'serverless', name.split('.')[2] as string] : name.split('.');
    expect(example).toHaveProperty(key);
  });

  test('fails the generation of a setting that is not documented', () => {
    const text = { description: 'A.', cost: 'Nothing.', example: { a: { b: 1 } } };
    const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' }) as SettingSchema;
    const group = (b: z.ZodType) => schemaOf(z.strictObject({ a: settings({ description: 'A.' }, z.strictObject({ b })) }));
    expect(settingsIn(group(setting(text, z.int()))).map(({ path: name }) => name)).toEqual(['a.b']);
    expect(() => settingsIn(group(z.int()))).toThrow('The setting a.b has no documentation.');
  });
});

describe('docs/settings.schema.json', () => {
  const ajv = addFormats.default(new Ajv({ strict: true, allowUnionTypes: true }));
  const accepts = ajv.compile(editorSchema());
  const cdkJson = JSON.parse(read('cdk.json'));

  test('is the one that npm run settings writes, and cdk.json names it', () => {
    expect(JSON.parse(read('docs/settings.schema.json'))).toEqual(editorSchema());
    expect(path.join(ROOT, cdkJson.$schema)).toBe(path.join(ROOT, 'docs/settings.schema.json'));
  });

  test('accepts cdk.json, with every option and with each example', () => {
    expect(accepts(cdkJson)).toBe(true);
    for (const sluice of [everyOption('prod'), ...all.map(({ schema }) => schema.example)])
      expect([sluice, accepts({ ...cdkJson, context: { ...cdkJson.context, sluice } })]).toEqual([sluice, true]);
  });

  test.each([
    { typo: true },
    { slo: { availabilty: 99 } },
    { logRetentionDays: 8 },
    { organizationConcurrency: 0 },
    { hosts: { control: { cloudFront: {} } } },
  ])('rejects %j', (sluice) => {
    expect(accepts({ context: { sluice } })).toBe(false);
  });

  test('says on hover what a setting does and costs', () => {
    const { sluice } = (editorSchema() as { properties: { context: { properties: { sluice: SettingSchema } } } }).properties.context
      .properties;
    expect(sluice.properties?.customerManagedKey?.description).toMatch(/^Encrypts .+ Costs: \$1\.00 a month/);
    expect(sluice.properties?.slo?.properties?.firstTokenMs).toMatchObject({ examples: [8_000], default: 5_000 });
  });
});
