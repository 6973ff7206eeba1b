import { describe, expect, test } from '@jest/globals';
import { readOptions } from '../../../../infra/tools/cost/options.ts';
import { SCENARIOS } from '../../../../infra/tools/cost/usage.ts';

describe('the command line of npm run cost', () => {
  test('shows the scenarios without options', () => {
    expect(readOptions([])).toMatchObject({ usages: SCENARIOS, settings: undefined, assembly: undefined, isJson: false });
  });

  test('shows a usage beside an idle month, and takes what is not set from short chats', () => {
    const { usages } = readOptions([
      '--requests',
      '5000000',
      '--tokens',
      '800,300',
      '--seconds',
      '2.5',
      '--stream',
      '--prepaid',
      '--stored-gb',
      '7',
    ]);
    expect(usages).toEqual({
      'your usage': {
        ...SCENARIOS['short chats'],
        requests: 5_000_000n,
        promptTokens: 800n,
        completionTokens: 300n,
        milliseconds: 2_500n,
        isStreamed: true,
        isPrepaid: true,
        storedGb: 7n,
      },
      idle: { ...SCENARIOS.idle, storedGb: 7n },
    });
  });

  test('reads the settings of a deployment', () => {
    expect(readOptions(['--settings', '{"firewall":{}}']).settings).toEqual({ firewall: {} });
  });

  test.each([
    [['--speed', '3'], "Unknown option '--speed'"],
    [['--requests'], "Option '--requests <value>' argument missing"],
    [['--requests', 'many'], '--requests: expected a whole number'],
    [['--requests', '-1'], "'--requests' argument is ambiguous"],
    [['--requests', '1e6'], '--requests: expected a whole number'],
    [['--requests', '30000000001'], '--requests: expected at most 30000000000'],
    [['--tokens', '500'], '--tokens: expected prompt and completion tokens, such as 500,150'],
    [['--tokens', '500,999999999'], '--tokens: expected at most 100000000'],
    [['--seconds', '901'], '--seconds: expected at most 900'],
    [['--seconds', '1.2345'], '--seconds: expected seconds with up to three decimals'],
    [['--keys', '0'], '--keys: expected at least 1'],
    [['--settings', '{'], '--settings: expected JSON'],
    [['--settings', '{"firewal":{}}'], 'firewal is not a setting. Did you mean firewall?'],
    [['--settings', '{}', '--assembly', 'cdk.out'], 'Give one of them.'],
    [['extra'], "Unexpected argument 'extra'"],
  ])('rejects %p', (parameters, message) => {
    expect(() => readOptions(parameters)).toThrow(message);
  });
});
