import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { nanosOf } from '../../../../shared/prices/dollars.ts';
import { assemblyDir } from '../../../support/assembly/assembly.ts';

const MAIN = path.join(import.meta.dirname, '../../../../infra/tools/cost/main.ts');

const cost = (...parameters: string[]) => spawnSync(process.execPath, [MAIN, ...parameters], { encoding: 'utf8' });

describe('npm run cost', () => {
  test('prints the same tables each time', () => {
    const [first, second] = [cost('--assembly', assemblyDir()), cost('--assembly', assemblyDir())];
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(first.stdout).toBe(second.stdout);
    expect(first.stdout).toMatch(/\| +short chats \| +long streams \| +idle \|/);
    expect(first.stdout).toMatch(/\| \*\*Sluice\*\* +\| +\*\*\$\d+\.\d\d\*\* \|/);
    expect(first.stdout).toMatch(/\| metrics of alarms +\| +\$\d+\.\d\d \|/);
  });

  test('prints JSON whose services add up to the total, to the nano-dollar', () => {
    const { stdout, status } = cost('--assembly', assemblyDir(), '--json', '--requests', '123457', '--seconds', '1.5', '--prepaid');
    expect(status).toBe(0);
    const { months, at_rest: atRest } = JSON.parse(stdout);
    const sum = (dollars: Iterable<string>): bigint => [...dollars].reduce((total, text) => total + (nanosOf(text) as bigint), 0n);
    expect(months.map(({ name }: { name: string }) => name)).toEqual(['your usage', 'idle']);
    for (const { services, total } of months) expect(sum(Object.values(services))).toBe(nanosOf(total));
    expect(sum(atRest.map(({ total }: { total: string }) => total))).toBe(nanosOf(months[1].total));
  });

  test('explains its options', () => {
    expect(cost('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--tokens P,C') });
  });

  test.each([
    [['--requests', 'many'], '--requests: expected a whole number\n'],
    [['--speed'], "Unknown option '--speed'\nnpm run cost -- --help lists all options.\n"],
    [['--assembly', '/nowhere'], '/nowhere/manifest.json is not a readable file of a CDK cloud assembly\n'],
  ])('ends with 1 and a sentence for %p', (parameters, stderr) => {
    expect(cost(...parameters)).toMatchObject({ status: 1, stderr, stdout: '' });
  });
});
