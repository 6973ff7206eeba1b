import { describe, expect, test } from '@jest/globals';
import { cost } from '../../../../infra/tools/cost/main.ts';
import { nanosOf } from '../../../../shared/prices/dollars.ts';
import { assemblyDir } from '../../../support/assembly/assembly.ts';
import { runProgram } from '../../../support/run-program.ts';

const run = async (...flags: string[]) => runProgram(cost, flags, process.env);

describe('npm run cost', () => {
  test('prints the same tables each time', async () => {
    const [first, second] = [await run('--assembly', assemblyDir()), await run('--assembly', assemblyDir())];
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toBe(second.stdout);
    expect(first.stdout).toMatch(/\| +short chats \| +long streams \| +idle \|/);
    expect(first.stdout).toMatch(/\| \*\*Sluice\*\* +\| +\*\*\$\d+\.\d\d\*\* \|/);
    expect(first.stdout).toMatch(/\| metrics of alarms +\| +\$\d+\.\d\d \|/);
  });

  test('prints JSON whose services add up to the total, to the nano-dollar', async () => {
    const { stdout, code } = await run('--assembly', assemblyDir(), '--json', '--requests', '123457', '--seconds', '1.5', '--prepaid');
    expect(code).toBe(0);
    const { months, at_rest: atRest } = JSON.parse(stdout);
    const sum = (dollars: Iterable<string>): bigint => [...dollars].reduce((total, text) => total + (nanosOf(text) as bigint), 0n);
    expect(months.map(({ name }: { name: string }) => name)).toEqual(['your usage', 'idle']);
    for (const { services, total } of months) expect(sum(Object.values(services))).toBe(nanosOf(total));
    expect(sum(atRest.map(({ total }: { total: string }) => total))).toBe(nanosOf(months[1].total));
  });

  test('explains its options', async () => {
    expect(await run('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('--tokens P,C') });
  });

  test.each([
    [['--requests', 'many'], '--requests: expected a whole number.\n'],
    [['--speed'], "Unknown option '--speed'\nnpm run cost -- --help lists all options.\n"],
    [['--assembly', '/nowhere'], '/nowhere/manifest.json is not a readable file of a CDK cloud assembly\n'],
  ])('ends with 1 and a sentence for %p', async (parameters, stderr) => {
    expect(await run(...parameters)).toMatchObject({ code: 1, stderr, stdout: '' });
  });
});
