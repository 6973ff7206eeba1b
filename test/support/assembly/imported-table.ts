import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { findDynoxide } from '../../../infra/local/dynamodb/dynoxide.ts';
import { reservePorts } from '../../../infra/local/processes/reserve-ports.ts';
import { writeAttributes } from '../../../shared/database/attribute-values.ts';

const CHUNK_CHARACTERS = 1_000_000;
const READY = /^Dynoxide listening on (\S+)$/;

// In the format of https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
const writeExport = async (file: string, fill: (put: (item: object) => void) => Promise<void>): Promise<void> => {
  const descriptor = openSync(file, 'w');
  let chunk = '';
  await fill((item) => {
    chunk += `{"Item":${writeAttributes(item)}}\n`;
    if (chunk.length < CHUNK_CHARACTERS) return;
    writeSync(descriptor, chunk);
    chunk = '';
  });
  writeSync(descriptor, chunk);
  closeSync(descriptor);
};

// The emulator prints its address on stderr. The error has its output if it ends before.
const urlOf = async (child: ChildProcess): Promise<string> => {
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr as NodeJS.ReadableStream })) {
    const url = READY.exec(line)?.[1];
    if (url !== undefined) return url;
    lines.push(line);
  }
  throw new Error(`The import failed:\n${lines.join('\n')}`);
};

/**
 * A copy of one of the app's tables in an in-memory emulator of its own, with the items that `fill` puts. The
 * emulator imports them from a file, which takes a small part of the time of as many calls.
 */
export const importTable = async (
  client: DynamoDBClient,
  name: string,
  fill: (put: (item: object) => void) => Promise<void>,
): Promise<{ url: string; close: () => Promise<void> }> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-import-'));
  const data = path.join(folder, 'export', name, 'data');
  const schema = path.join(folder, 'schema.json');
  mkdirSync(data, { recursive: true });
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
  writeFileSync(schema, JSON.stringify({ Table }));
  await writeExport(path.join(data, 'items.json'), fill);
  const reserved = await reservePorts();
  const { port } = reserved;
  const options = ['--source', path.join(folder, 'export'), '--schema', schema, '--serve', '--port', String(port)];
  const child = spawn(findDynoxide(), ['import', ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const close = async (): Promise<void> => {
    child.kill();
    await ended;
    reserved[Symbol.dispose]();
  };
  try {
    return { url: await urlOf(child), close };
  } catch (error) {
    await close();
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
