import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { controlDocument } from '../../../../infra/tools/reference/control-document.ts';
import { controlOperations } from '../../../../infra/tools/reference/control-operations.ts';
import { openApiDocument } from '../../../../infra/tools/reference/inference-document.ts';

const root = path.join(import.meta.dirname, '../../../..');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sluice-reference-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const write = async (...flags: string[]): Promise<{ document: unknown; page: string }> => {
  await promisify(execFile)(process.execPath, [path.join(root, 'infra/tools/reference/write-reference.ts'), folder, ...flags]);
  const read = (name: string): string => gunzipSync(readFileSync(path.join(folder, 'reference', `${name}.gz`))).toString();
  return { document: JSON.parse(read('openapi.json')), page: read('docs.html') };
};
const onWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('writes the reference of the serverless host', async () => {
  const { document, page } = await write();
  expect(document).toEqual(onWire(openApiDocument('serverless')));
  expect(page).toContain('<title>Sluice API reference</title>');
});

test('writes the reference of the on-demand host', async () => {
  const { document, page } = await write('--host', 'on_demand');
  expect(document).toEqual(onWire(openApiDocument('on_demand')));
  expect(page).toContain('<title>Sluice on-demand API reference</title>');
});

test('fails for an unknown host', async () => {
  await expect(write('--host', 'on-demand')).rejects.toThrow("--host must be one of serverless, on_demand, control, not 'on-demand'.");
});

test('writes the reference of the control plane', async () => {
  const { document, page } = await write('--host', 'control');
  expect(document).toEqual(onWire(controlDocument(controlOperations)));
  expect(page).toContain('<title>Sluice control plane API reference</title>');
});
