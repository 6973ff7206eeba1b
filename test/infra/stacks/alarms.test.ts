import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type AlarmName, alarmTexts, isAlarmName } from '../../../infra/constructs/alarms/alarm-texts.ts';
import { type FieldValue, parseQuery } from '../../../infra/local/logs/insights-query.ts';
import { queryFor, readEntry } from '../../../infra/tools/admin/why/runbook.ts';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';
import { everyOption } from '../../support/assembly/every-option.ts';
import { type StackName, stackNames, templatesWith } from '../../support/assembly/templates.ts';

const RUNBOOK_URL = 'https://wiki.example.com/operations';
const ROOT = path.join(import.meta.dirname, '../../..');
const page = readFileSync(path.join(ROOT, 'docs/runbook.md'), 'utf8');
// GitHub gives these anchors to headings.
const anchors = new Set(
  page.match(/(?<=^#+ ).+$/gm)?.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  ),
);

interface Deployed {
  AlarmName: string;
  AlarmDescription: string;
  MetricName?: string;
  AlarmActions?: { Ref: string }[];
  OKActions?: { Ref: string }[];
}

interface MetricFilter {
  LogGroupName: { 'Fn::ImportValue': string };
  MetricTransformations: { MetricName: string }[];
}

// The log of the host has the addresses, and that of the function doesn't.
const ASKS_ANOTHER_LOG: ReadonlySet<AlarmName> = new Set(['LoginsRefused']);

let alarms: Deployed[];
let logGroups: string[];
// The log groups of each metric that is made from log lines.
let groupsOfMetric: Map<string, string[]>;
beforeAll(async () => {
  const { telemetry, auditCopies } = everyOption('all');
  const templateOf = await templatesWith({ telemetry, auditCopies, canary: true, runbookUrl: RUNBOOK_URL });
  const names: StackName[] = [...stackNames, 'telemetry'];
  alarms = names.flatMap((stack) =>
    Object.values(templateOf(stack).findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties as Deployed),
  );
  logGroups = names.flatMap((stack) =>
    Object.keys(templateOf(stack).findResources('AWS::Logs::LogGroup')).map((id) => `sluice-${stack}-${id}`),
  );
  groupsOfMetric = new Map();
  for (const { Properties } of Object.values(templateOf('operations').findResources('AWS::Logs::MetricFilter'))) {
    const { LogGroupName, MetricTransformations } = Properties as MetricFilter;
    // Such as `sluice-control:ExportsOutputRefSignInLogsA421982A3B2B8F1C`, with the id of the log group.
    const [, stack, id] = /^(sluice-\w+):ExportsOutputRef(\w+)$/.exec(LogGroupName['Fn::ImportValue']) ?? [];
    for (const { MetricName } of MetricTransformations)
      groupsOfMetric.set(MetricName, [...(groupsOfMetric.get(MetricName) ?? []), `${stack}-${id}`]);
  }
});

const notifying = (): Deployed[] => alarms.filter(({ AlarmActions }) => AlarmActions !== undefined);
const nameOf = ({ AlarmName }: Deployed): AlarmName => {
  const name = AlarmName.replace('sluice-operations-', '');
  if (!isAlarmName(name)) throw new Error(`${AlarmName} is no alarm of the runbook.`);
  return name;
};

test('each alarm has its name in the runbook, and the runbook describes no others', () => {
  expect(notifying().map(nameOf).sort()).toEqual(Object.keys(alarmTexts).sort());
});

test('each alarm pages or opens a ticket, and says on the same topic when it is over', () => {
  for (const alarm of notifying()) {
    const isPage = alarmTexts[nameOf(alarm)].severity === 'page';
    const [topic] = alarm.AlarmActions ?? [];
    expect({ alarm: alarm.AlarmName, isTickets: topic?.Ref.includes('Tickets') }).toEqual({ alarm: alarm.AlarmName, isTickets: !isPage });
    expect(alarm.AlarmActions).toHaveLength(1);
    expect(alarm.OKActions).toEqual(alarm.AlarmActions);
  }
});

test('each description says the fact, the impact and the URL of an entry that exists', () => {
  for (const alarm of notifying()) {
    const { fact, impact } = alarmTexts[nameOf(alarm)];
    expect(alarm.AlarmDescription).toBe(`${fact} ${impact} ${RUNBOOK_URL}#${nameOf(alarm).toLowerCase()}`);
    expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1_024);
  }
  for (const { AlarmDescription } of alarms) {
    const [, anchor = ''] = AlarmDescription.split(`${RUNBOOK_URL}#`);
    expect({ AlarmDescription, isThere: anchors.has(anchor) }).toEqual({ AlarmDescription, isThere: true });
  }
});

describe.each(Object.keys(alarmTexts) as AlarmName[])('the entry of %s', (name) => {
  const entry = readEntry(name);

  test('begins with how soon to act', () => {
    expect(entry?.text).toMatch(alarmTexts[name].severity === 'page' ? /^\*\*Page\.\*\* / : /^\*\*Ticket\.\*\* /);
  });

  test('says the fact and the impact first, as the description of the alarm does', () => {
    const { severity, fact, impact } = alarmTexts[name];
    expect(entry?.text.split('\n\n')[0]).toBe(`**${severity === 'page' ? 'Page' : 'Ticket'}.** ${fact} ${impact}`);
    expect(entry?.advice).not.toBe('');
  });

  test('names the command that answers it and the log groups', () => {
    const groups = parseQuery(entry?.query ?? '').prefixes.map((prefix) => `\`${prefix}…\``);
    const noun = groups.length === 1 ? 'group' : 'groups';
    expect(entry?.command).toBe(`\`npm run admin -- why ${name}\` finds the log ${noun} ${groups.join(', ')} and runs:`);
  });

  test('is listed by its severity at the beginning of the alarms', () => {
    const [, list = ''] = page.split(alarmTexts[name].severity === 'page' ? '\n**Page:** ' : '\n**Ticket:** ');
    expect(list.split('\n\n')[0]).toContain(`[${name}](#${name.toLowerCase()})`);
  });

  test('has a query of log groups that exist', () => {
    const { prefixes } = parseQuery(entry?.query ?? '');
    expect(prefixes.length).toBeGreaterThan(0);
    // A query can name five prefixes.
    expect(prefixes.length).toBeLessThanOrEqual(5);
    for (const prefix of prefixes)
      expect({ prefix, isThere: logGroups.some((group) => group.startsWith(prefix)) }).toEqual({ prefix, isThere: true });
  });
});

test('a query reads every log whose lines set its alarm off', () => {
  const counting = notifying().filter((alarm) => groupsOfMetric.has(alarm.MetricName ?? '') && !ASKS_ANOTHER_LOG.has(nameOf(alarm)));
  expect(counting.length).toBeGreaterThanOrEqual(10);
  for (const alarm of counting) {
    const { prefixes } = parseQuery(readEntry(nameOf(alarm))?.query ?? '');
    const unread = groupsOfMetric.get(alarm.MetricName ?? '')?.filter((group) => !prefixes.some((prefix) => group.startsWith(prefix)));
    expect({ alarm: alarm.AlarmName, unread }).toEqual({ alarm: alarm.AlarmName, unread: [] });
  }
});

test('LoginsRefused counts the addresses of what sets it off: rejected logins, not other refusals', () => {
  const { filters } = parseQuery(readEntry('LoginsRefused')?.query ?? '');
  const isCounted = (line: Record<string, FieldValue>): boolean => filters.every((holds) => holds((field) => line[field]));
  const counted = (status: string): string[] =>
    [...Object.values(AUTH_PATHS), '/{proxy+}'].filter((resource) => isCounted({ method: 'POST', resource, status }));
  const { login, challenge, browserLogin, browserChallenge } = AUTH_PATHS;
  expect(counted('401')).toEqual([login, challenge, browserLogin, browserChallenge]);
  expect([...counted('429'), ...counted('200')]).toEqual([]);
});

test('the queries look for lines that the code writes', async () => {
  const files = await Array.fromAsync(glob('{functions,shared}/**/*.ts', { cwd: ROOT }));
  const code = files.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('\n');
  const queries = Object.keys(alarmTexts).map((name) => readEntry(name)?.query ?? '');
  const messages = queries
    .flatMap((query) => query.match(/message (?:= '\w+'|in \[[^\]]+\])/g) ?? [])
    .flatMap((condition) => condition.match(/(?<=')\w+(?=')/g) ?? []);
  expect(messages.length).toBeGreaterThan(30);
  for (const message of new Set(messages))
    expect({ message, isWritten: code.includes(`'${message}'`) }).toEqual({ message, isWritten: true });
});

test('a query is about another stage’s log groups if the stacks have another prefix', () => {
  expect(queryFor(readEntry('SweepLate')?.query ?? '', 'sluice-dev')).toContain("'sluice-dev-serverless-MeteringLogs'");
});
