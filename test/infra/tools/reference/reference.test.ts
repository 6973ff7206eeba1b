import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { interpret } from '../../../../infra/assembly/interpret.ts';
import { readAssembly } from '../../../../infra/assembly/read-assembly.ts';
import { controlDocument } from '../../../../infra/tools/reference/control-document.ts';
import { controlOperations } from '../../../../infra/tools/reference/control-operations.ts';
import { openApiDocument } from '../../../../infra/tools/reference/inference-document.ts';
import { assemblyDir } from '../../../support/assembly/assembly.ts';

const PROGRAM = path.join(import.meta.dirname, '../../../../infra/tools/reference/write-reference.ts');

const { functions } = interpret(await readAssembly(assemblyDir()));

// The app's synthesis has written it next to the bundle of the function that serves it.
const writtenFor = (name: string): { document: unknown; page: string } => {
  const { folder = '' } = functions.find(({ shortName }) => shortName === name) ?? {};
  const read = (file: string): string => gunzipSync(readFileSync(path.join(folder, 'reference', `${file}.gz`))).toString();
  return { document: JSON.parse(read('openapi.json')), page: read('docs.html') };
};
const onWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('writes the reference of the serverless host', () => {
  const { document, page } = writtenFor('catalog');
  expect(document).toEqual(onWire(openApiDocument('serverless')));
  expect(page).toContain('<title>Sluice API reference</title>');
});

test('writes the reference of the on-demand host', () => {
  const { document, page } = writtenFor('ondemand-catalog');
  expect(document).toEqual(onWire(openApiDocument('on_demand')));
  expect(page).toContain('<title>Sluice on-demand API reference</title>');
});

test('fails for an unknown host', async () => {
  const written = promisify(execFile)(process.execPath, [PROGRAM, '', '--host', 'on-demand']);
  await expect(written).rejects.toThrow("--host must be one of serverless, on_demand, control, not 'on-demand'.");
});

test('writes the reference of the control plane', () => {
  const { document, page } = writtenFor('control');
  expect(document).toEqual(onWire(controlDocument(controlOperations)));
  expect(page).toContain('<title>Sluice control plane API reference</title>');
});
