import { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { expect, jest, test } from '@jest/globals';
import { instancesUsed } from '../../../../functions/deployments/validate/instances-used.ts';
import { readQuotas } from '../../../../functions/deployments/validate/quotas.ts';
import { validate } from '../../../../functions/deployments/validate/validate.ts';
import { createControlPlane } from '../../../support/emulators/sagemaker-control-plane.ts';
import { newDeployment } from '../../../support/fixtures/deployments.ts';

const PAGE = 1_000;
const PREFIX = 'org_1/qwen3-8b/';
const MODEL = `s3://weights/${PREFIX}`;
const FILES = ['config.json', 'model.safetensors', 'tokenizer.json'];

interface WireRequest {
  query: Record<string, string>;
}

const listReply = (keys: readonly string[], { query }: WireRequest): string => {
  const found = keys.filter((key) => key.startsWith(query.prefix ?? ''));
  const start = Number(query['continuation-token'] ?? 0);
  const contents = found.slice(start, start + PAGE).map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`);
  const isTruncated = start + PAGE < found.length;
  const next = isTruncated ? `<NextContinuationToken>${start + PAGE}</NextContinuationToken>` : '';
  return `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`;
};

const bucketOf = (keys: readonly string[]): S3Client =>
  new S3Client({
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler: {
      handle: async (request: WireRequest) => ({
        response: { statusCode: 200, headers: { 'content-type': 'application/xml' }, body: Readable.from([listReply(keys, request)]) },
      }),
    } as never,
  });

const weightsOf = async (files: readonly string[], fields: { allows_code?: boolean; model?: string } = {}) => {
  const s3 = bucketOf([...files.map((file) => PREFIX + file), 'org_1/another/model.py']);
  const question = { organization: 'org_1', model: MODEL, allows_code: false, instance_types: ['ml.g5.xlarge'], ...fields };
  const { quotas } = createControlPlane();
  return (await validate({ s3, serviceQuotas: quotas, instancesUsed: async () => new Map() }, question)).weights;
};

test('accepts a folder with a model', async () => {
  expect(await weightsOf(FILES)).toEqual({ passed: true, message: 'The folder has 3 files.' });
});

test.each([
  ['an empty folder', [], /has no files/],
  ['an archive', ['model.tar.gz'], /has no config\.json/],
  ['a handler', [...FILES, 'model.py'], /contains code \(model\.py\)/],
  ['packages to install', [...FILES, 'requirements.txt'], /contains code/],
  ['settings of DJL Serving, which can allow code', [...FILES, 'serving.properties'], /contains code \(serving\.properties\)/],
  ['a folder of code', [...FILES, 'code/inference.py'], /contains code/],
  ['more files than it can look at', Array.from({ length: 5_001 }, (_, i) => `part-${i}`), /more than 5,000 files/],
])('rejects %s, and says what to do', async (_, files, message) => {
  expect(await weightsOf(files)).toEqual({ passed: false, message: expect.stringMatching(message) });
});

test('accepts code if an admin allows it, and files of the same names in subfolders', async () => {
  expect(await weightsOf([...FILES, 'model.py'], { allows_code: true })).toMatchObject({ passed: true });
  expect(await weightsOf([...FILES, 'original/model.py'])).toMatchObject({ passed: true });
});

test('reads all pages of a folder', async () => {
  const parts = Array.from({ length: 1_500 }, (_, i) => `a-${String(i).padStart(5, '0')}`);
  expect(await weightsOf([...parts, 'config.json', 'model.py'])).toMatchObject({ passed: false });
});

test('does not check models of the Hub, and rejects a location that is no folder', async () => {
  expect(await weightsOf([], { model: 'Qwen/Qwen3-8B' })).toMatchObject({ passed: true });
  expect(await weightsOf(FILES, { model: 's3://weights/org_1/qwen3-8b' })).toMatchObject({ passed: false });
});

test('returns the quotas read in time, if Service Quotas is slow', async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  const time = new AbortController();
  const pages = [{ Quotas: [{ QuotaName: 'ml.g5.xlarge for endpoint usage', Value: 7 }], NextToken: '1' }];
  const slow = {
    send: async (_: unknown, { abortSignal }: { abortSignal: AbortSignal }) => {
      const page = pages.shift();
      if (page) return page;
      time.abort();
      abortSignal.throwIfAborted();
      throw new Error('It went on after its time was over.');
    },
  };
  const quotas = await readQuotas(slow as never, ['ml.g5.xlarge', 'ml.g6.xlarge'], new Map(), time.signal);
  expect(quotas).toEqual([{ instance_type: 'ml.g5.xlarge', limit: 7, used: 0 }]);
});

test("returns AWS's quota of each type that has one, and the number of instances in use", async () => {
  const running = [{ generation: 1, instance_type: 'ml.g5.xlarge', instances: 2, phase: 'serving' as const }];
  const rows = [0, 1, 2].map((i) =>
    newDeployment({ organization: 'org_1', ...(i < 2 && { meter: { until: 0, running, held_nanos: 0n } }) }),
  );
  const ids = async function* () {
    for (const { id } of rows) yield id;
  };
  const used = () => instancesUsed(ids(), async (id) => rows.find((row) => row.id === id));
  const { quotas: serviceQuotas } = createControlPlane({ settings: { quotas: { 'ml.g5.xlarge': 7 } } });
  const question = {
    organization: 'org_1',
    model: 'Qwen/Qwen3-8B',
    allows_code: false,
    instance_types: ['ml.g5.xlarge', 'ml.g6.xlarge', 'ml.unknown'],
  };
  const { quotas } = await validate({ s3: bucketOf([]), serviceQuotas, instancesUsed: used }, question);
  expect(quotas).toEqual([
    { instance_type: 'ml.g5.xlarge', limit: 7, used: 4 },
    { instance_type: 'ml.g6.xlarge', limit: 4, used: 0 },
  ]);
});
