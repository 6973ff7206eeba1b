import { gunzipSync } from 'node:zlib';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  type AdapterFiles,
  createAdapterFiles,
  FilesChanged,
  FilesUnreadable,
  MAX_WEIGHTS_BYTES,
} from '../../../../functions/deployments/adapters/adapter-files.ts';
import { AdapterRefused } from '../../../../functions/deployments/adapters/refused.ts';
import { createMemoryStore } from '../../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../../infra/local/s3/server.ts';
import { adapterFiles, type FakeTensor, safetensors } from '../../../support/fixtures/adapters/adapter-files.ts';

const BUCKET = 'weights';
const PREFIX = 'org_1/legal/';
const ARCHIVE = 'adapters/org_1/dep_1/lora_1.tar.gz';
const MAX_RANK = 16;

let s3: S3Emulator;
let client: S3Client;
let files: AdapterFiles;
// Called before each GetObject.
let beforeRead: (key: string) => Promise<unknown>;
const store = createMemoryStore();

beforeEach(async () => {
  s3 = await startS3(new Set([BUCKET]), store);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const config = { endpoint: s3.url, region: 'us-east-1', credentials, forcePathStyle: true, maxAttempts: 1 };
  client = new S3Client({ ...config, requestChecksumCalculation: 'WHEN_REQUIRED' });
  beforeRead = async () => undefined;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === 'GetObjectCommand') await beforeRead((args.input as { Key: string }).Key);
      return next(args);
    },
    { step: 'initialize' },
  );
  files = createAdapterFiles(client, BUCKET);
});
afterEach(async () => {
  client.destroy();
  await s3.close();
  for (const { key } of await store.list(BUCKET)) await store.delete(BUCKET, key);
});

const upload = async (contents: Readonly<Record<string, Buffer | string>>): Promise<void> => {
  for (const [name, Body] of Object.entries(contents))
    await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: PREFIX + name, Body }));
};
const pack = () => files.pack(PREFIX, ARCHIVE, MAX_RANK, new AbortController().signal);
const refusal = async (): Promise<string> => {
  const error = await pack().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AdapterRefused);
  expect(await files.list('adapters/org_1/dep_1/')).toEqual([]);
  return `${(error as AdapterRefused).code}: ${(error as Error).message}`;
};

test('stores the two files as one archive, and nothing else of the folder', async () => {
  const contents = adapterFiles(8);
  await upload({ ...contents, 'README.md': '# Adapter', 'training_args.bin': 'pickle' });
  const packed = await pack();
  const archive = (await store.get(BUCKET, ARCHIVE)) as Buffer;
  expect(packed).toEqual({ rank: 8, bytes: archive.length });
  const unpacked = gunzipSync(archive);
  for (const content of Object.values(contents)) expect(unpacked.includes(content)).toBe(true);
  expect(unpacked.includes('pickle')).toBe(false);
  expect(await files.list('adapters/org_1/dep_1/')).toEqual([ARCHIVE]);
  await files.remove(ARCHIVE);
  expect(await files.list('adapters/org_1/dep_1/')).toEqual([]);
});

test('accepts an adapter with several megabytes of weights', async () => {
  await upload(adapterFiles(16, 100_000));
  expect((await pack()).rank).toBe(16);
});

test('refuses pickled weights, and incomplete folders', async () => {
  expect(await refusal()).toBe('adapter_files_missing: The folder has no adapter_config.json.');
  await upload({ 'adapter_config.json': adapterFiles()['adapter_config.json'] });
  expect(await refusal()).toBe('adapter_files_missing: The folder has no adapter_model.safetensors.');
  await upload({ 'adapter_model.bin': 'pickle' });
  expect(await refusal()).toMatch(/adapter_model\.bin, which can contain code/);
});

test('refuses files that are too large, before it reads them', async () => {
  const { 'adapter_config.json': config, 'adapter_model.safetensors': weights } = adapterFiles();
  await upload({ 'adapter_config.json': Buffer.alloc(65_537, ' '), 'adapter_model.safetensors': weights });
  expect(await refusal()).toMatch(/^adapter_too_large: adapter_config\.json has 65537 bytes/);
  await upload({ 'adapter_config.json': config });
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { Contents } = result.output as { Contents?: { Key?: string; Size?: number }[] };
      for (const file of Contents ?? []) if (file.Key?.endsWith('.safetensors')) file.Size = MAX_WEIGHTS_BYTES + 1;
      return result;
    },
    { step: 'initialize' },
  );
  beforeRead = () => Promise.reject(new Error('A file was read.'));
  expect(await refusal()).toMatch(/^adapter_too_large: adapter_model\.safetensors has 536870913 bytes/);
});

const configWith = (fields: object): Buffer =>
  Buffer.from(JSON.stringify({ ...JSON.parse(adapterFiles()['adapter_config.json'].toString()), ...fields }));

test.each<[what: string, config: Buffer, message: RegExp]>([
  ['no JSON', Buffer.from('r: 8'), /is not JSON/],
  ['another method', configWith({ peft_type: 'IA3' }), /peft_type: expected LORA/],
  ['no rank', configWith({ r: 0 }), /: r: /],
  ['DoRA', configWith({ use_dora: true }), /use_dora: .*DoRA is not supported/],
  ['whole modules', configWith({ modules_to_save: ['lm_head'] }), /modules_to_save: /],
  ['a bias', configWith({ bias: 'all' }), /bias: expected none/],
  ['too high a rank', configWith({ r: 17 }), /^adapter_rank_too_high: The adapter's rank is 17; .* is 16/],
  ['too high a rank of one module', configWith({ rank_pattern: { q_proj: 32 } }), /^adapter_rank_too_high: .* is 32/],
])('refuses a configuration with %s', async (_, config, message) => {
  await upload({ ...adapterFiles(), 'adapter_config.json': config });
  expect(await refusal()).toMatch(message);
});

const A: FakeTensor = { name: 'layers.0.q_proj.lora_A.weight', shape: [8, 64] };
const B: FakeTensor = { name: 'layers.0.q_proj.lora_B.weight', shape: [64, 8] };
const lying = Buffer.concat([Buffer.from([255, 255, 255, 255, 0, 0, 0, 0]), Buffer.alloc(1_000)]);

test.each<[what: string, weights: Buffer, message: RegExp]>([
  ['no bytes', Buffer.alloc(0), /the file is too short/],
  ['a header that says it has 4 GB', lying, /its header is larger than 2 MB, or than the file/],
  ['a header that is not JSON', Buffer.concat([Buffer.from([4, 0, 0, 0, 0, 0, 0, 0]), Buffer.from('pick')]), /is not a JSON object/],
  ['no tensors', safetensors([]), /it has no tensors/],
  ['whole weights', safetensors([A, { name: 'lm_head.weight', shape: [64, 64] }]), /"lm_head\.weight" is not a matrix/],
  ['a rank that its configuration hides', safetensors([{ ...A, shape: [64, 64] }, B]), /^adapter_rank_too_high: .* is 64/],
  ['a rank that the second matrix hides', safetensors([A, { ...B, shape: [64, 32] }]), /^adapter_rank_too_high: .* is 32/],
  ['an unknown type', safetensors([{ ...A, dtype: 'I64' }]), /has not the size of its shape and type/],
  ['an end that is missing', safetensors([A, B]).subarray(0, -1), /the file is not complete/],
  ['something behind its tensors', Buffer.concat([safetensors([A, B]), Buffer.from('code')]), /or longer than its tensors/],
  [
    'tensors that overlap',
    safetensors([A, B], (header) => ({ ...header, [B.name]: { dtype: 'BF16', shape: B.shape, data_offsets: [0, 1_024] } })),
    /overlap, or have gaps/,
  ],
])('refuses weights with %s', async (_, weights, message) => {
  await upload({ ...adapterFiles(), 'adapter_model.safetensors': weights });
  expect(await refusal()).toMatch(message);
});

test.each(['adapter_config.json', 'adapter_model.safetensors'] as const)(
  'does not store a %s that was swapped after it was seen',
  async (name) => {
    await upload(adapterFiles(8));
    beforeRead = async (key) => {
      if (key.endsWith(name)) await store.put(BUCKET, PREFIX + name, adapterFiles(9)[name]);
    };
    await expect(pack()).rejects.toThrow(FilesChanged);
    expect(await files.list('adapters/org_1/dep_1/')).toEqual([]);
  },
);

test('takes a file that was deleted after it was seen for a change', async () => {
  await upload(adapterFiles(8));
  beforeRead = (key) => store.delete(BUCKET, key);
  await expect(pack()).rejects.toThrow(FilesChanged);
});

test.each(['AccessDenied', 'InvalidObjectState', 'KMS.DisabledException'])('reports files that S3 refuses to read: %s', async (name) => {
  await upload(adapterFiles(8));
  beforeRead = async () => {
    throw Object.assign(new Error('Refused.'), { name, $metadata: { httpStatusCode: 403 } });
  };
  await expect(pack()).rejects.toThrow(FilesUnreadable);
  expect(await files.list('adapters/org_1/dep_1/')).toEqual([]);
});

test('ends with its signal, and stores nothing', async () => {
  await upload(adapterFiles());
  const ended = new AbortController();
  beforeRead = async () => ended.abort();
  await expect(files.pack(PREFIX, ARCHIVE, MAX_RANK, ended.signal)).rejects.toThrow();
  expect(await files.list('adapters/org_1/dep_1/')).toEqual([]);
});
