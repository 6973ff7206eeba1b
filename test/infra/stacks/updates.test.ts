import { beforeAll, describe, expect, test } from '@jest/globals';
import { Config } from '../../../infra/config/config.ts';
import { allOptions, options } from '../../support/assembly/every-option.ts';
import { isolatedAssembly } from '../../support/assembly/isolated-assembly.ts';
import { type LinkedStack, linkedStacks, refusedUpdates } from '../../support/assembly/stack-updates.ts';
import { readReleasedStacks } from '../../upgrade/released-stacks.ts';

// Usually two seconds for each synthesis; more on a machine that runs other tests.
const SYNTHESIS_MS = 180_000;

const stacksWith = async (settings: object): Promise<LinkedStack[]> =>
  linkedStacks(await isolatedAssembly({ sluice: settings, 'aws:cdk:bundling-stacks': [] }));

// When one of these options is switched off, docs/options.md says to deploy these stacks alone first.
const ALONE: Readonly<Record<string, readonly string[]>> = { auditCopies: ['sluice-operations', 'sluice-control'] };

// These settings add nothing that one stack exports to another.
const VALUES_ONLY = [
  ...['name', 'stage', 'endpointTag', 'endpointRegions', 'gatewayLogRole', 'ondemandUrl', 'requestClient', 'slo', 'memory'],
  ...['logRetentionDays', 'commit', 'runbookUrl'],
];

// Settings of the last release that this one rejects: CHANGELOG.md says what to do about them before the upgrade.
const REMOVED = ['structuredOutputs'];

const kept = (settings: object): object => Object.fromEntries(Object.entries(settings).filter(([name]) => !REMOVED.includes(name)));

let plain: LinkedStack[];
beforeAll(async () => {
  plain = await stacksWith({});
}, SYNTHESIS_MS);

const named = (stacks: readonly LinkedStack[], names: readonly string[]): LinkedStack[] =>
  names.flatMap((name) => stacks.filter((stack) => stack.name === name));

describe('a running deployment', () => {
  test.each(Object.entries({ ...options, 'all of them': allOptions }))(
    'can get the option %s and lose it again',
    async (option, settings) => {
      const changed = await stacksWith(settings);
      const alone = named(plain, option === 'all of them' ? Object.values(ALONE).flat() : (ALONE[option] ?? []));
      const on = refusedUpdates(plain, changed);
      const off = refusedUpdates(changed, [...alone, ...plain]);
      expect({ on, off }).toEqual({ on: [], off: [] });
    },
    SYNTHESIS_MS,
  );

  test.each(
    readReleasedStacks().deployments.map((deployment, number) => [number === 0 ? 'no option' : 'every option', deployment] as const),
  )(
    'of the last release with %s can be upgraded',
    async (_, { settings, stacks }) => expect(refusedUpdates(stacks, await stacksWith(kept(settings)))).toEqual([]),
    SYNTHESIS_MS,
  );

  test('is tried with every setting of the configuration that can add something', () => {
    const tried = [...Object.values(options).flatMap(Object.keys), ...VALUES_ONLY];
    expect(Object.keys(Config.shape).filter((setting) => !tried.includes(setting))).toEqual([]);
  });
});

describe('CloudFormation refuses', () => {
  const producer: LinkedStack = { name: 'producer', exports: { url: 'a', id: 'b' }, imports: [] };
  const consumer: LinkedStack = { name: 'consumer', exports: {}, imports: ['url'] };
  const deployed = [producer, consumer];

  test.each([
    ['to remove an export that a deployed stack imports', { ...producer, exports: { id: 'b' } }],
    ['to change an export that a deployed stack imports', { ...producer, exports: { url: 'c', id: 'b' } }],
  ])('%s, even if the same deployment would end the import', (_, changed) => {
    const independent = { ...consumer, imports: [] };
    expect(refusedUpdates(deployed, [changed, independent])).toEqual(['url is in use by consumer']);
    expect(refusedUpdates(deployed, [changed])).toEqual(['url is in use by consumer']);
    expect(refusedUpdates(deployed, [independent, changed])).toEqual([]);
  });

  test('an import that no deployed stack exports', () => {
    expect(refusedUpdates([], [consumer, producer])).toEqual(['consumer imports url, which no stack exports']);
    expect(refusedUpdates([], [producer, consumer])).toEqual([]);
  });

  test(
    'the removal of an option whose stacks must be deployed in the reverse order',
    async () => {
      const refused = refusedUpdates(await stacksWith(options.auditCopies), plain);
      expect(refused).toContainEqual(expect.stringMatching(/^sluice-data:.*AuditCopies.* is in use by sluice-control$/));
    },
    SYNTHESIS_MS,
  );
});
