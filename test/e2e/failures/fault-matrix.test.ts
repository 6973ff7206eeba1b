import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { matrixOf, readSections } from '../../support/faults/fault-table/matrix.ts';
import { renderDocument } from '../../support/faults/fault-table/render.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../../docs/faults.md'), 'utf8');
const FIRST = '## None\n';

const section = (fault: string, rows: readonly string[]): string =>
  [
    `## ${fault}\n`,
    '| Request | Mode | Reply | Time | Retry-After | Outcome | Charge | Released |',
    '| - | - | - | - | - | - | - | - |',
    ...rows,
    '',
  ].join('\n');

describe('docs/faults.md', () => {
  test('opens with the matrix of its own tables', () => {
    expect(page).toBe(renderDocument(page.slice(page.indexOf(FIRST))));
  });

  test('has a row in the matrix for each fault', () => {
    const matrix = page.slice(0, page.indexOf(FIRST));
    const faults = readSections(page).map(({ fault }) => fault);
    expect(faults.length).toBeGreaterThan(40);
    expect(faults.filter((fault) => !matrix.includes(`| [${fault}](#`))).toEqual([]);
  });
});

describe('matrixOf', () => {
  test('compares charges with those without a fault, and names the requests that differ from most', () => {
    const usual = section('None', [
      '| chat completions | whole | 200 | at once | - | completed | 4400 | settled |',
      '| responses | whole | 200 | at once | - | completed | 7600 | settled |',
      '| completions | whole | 200 | at once | - | completed | 3300 | settled |',
      '| chat completions | stream | 200 | at once | - | completed | 4400 | settled |',
      '| tokenize | whole | 200 | at once | - | completed | 0 | settled |',
      '| create an API key (control) | whole | 201 | at once | - | created | - | - |',
    ]);
    const fault = section("The model's server", [
      '| chat completions | whole | 503 `upstream_error` | at once | 1 | upstream_failed | 0 | settled |',
      '| responses | whole | 503 `upstream_error` | at once | 1 | upstream_failed | 0 | settled |',
      '| completions | whole | 200 | at once | - | completed | 3300 | settled |',
      '| chat completions | stream | 200 `upstream_error` | at once | - | upstream_failed | 2000 | settled |',
      '| tokenize | whole | 404 `model_not_found` | at once | - | - | - | - |',
      '| create an API key (control) | whole | 503 `service_unavailable` | at once | 1 | - | - | - |',
    ]);
    const [, , ...rows] = matrixOf(readSections(`${usual}\n${fault}`))
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' '));
    expect(rows).toEqual([
      '| [None](#none) | 200, full | 200, full | - | 200 | - | - | 200 |',
      "| [The model's server](#the-models-server) | 503, free; completions: 200, full | 200, error, part | - | 404 | - | - | 503 |",
    ]);
  });
});
