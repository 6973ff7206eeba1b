import type { Need } from '../evaluate.ts';
import { NO_CONTEXT, type ServiceCall, type ToNeeds, unknown } from './arn.ts';

const need = (action: string, bucket: string, key?: string, context: Need['context'] = NO_CONTEXT): Need => ({
  action: `s3:${action}`,
  resource: `arn:aws:s3:::${bucket}${key === undefined ? '' : `/${key}`}`,
  context,
});

// A part of an object, and the end of a multipart upload, need the same.
const putNeeds = (call: ServiceCall, bucket: string, key: string): Need[] => {
  const source = call.header('x-amz-copy-source');
  const [from, ...path] = source === undefined ? [] : decodeURIComponent(source).replace(/^\//, '').split('/');
  return [
    need('PutObject', bucket, key),
    ...(from === undefined ? [] : [need('GetObject', from, path.join('/'))]),
    ...(call.header('x-amz-tagging') === undefined ? [] : [need('PutObjectTagging', bucket, key)]),
  ];
};

const listNeeds = (bucket: string, { searchParams }: URL): Need[] => {
  const prefix = searchParams.get('prefix');
  return [need('ListBucket', bucket, undefined, prefix === null ? NO_CONTEXT : { 's3:prefix': [prefix] })];
};

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html */
export const s3Needs: ToNeeds = (call) => {
  const [bucket = '', ...path] = decodeURIComponent(call.url.pathname.slice(1)).split('/');
  const key = path.join('/');
  if (key === '' && call.method === 'GET') return listNeeds(bucket, call.url);
  // A form names its key in a field; whoever signed it must be able to put that object.
  if (key === '') return call.method === 'POST' ? [need('PutObject', bucket, keyOfForm(call))] : unknown('S3', call.method);
  if (call.method === 'GET' || call.method === 'HEAD') return [need('GetObject', bucket, key)];
  if (call.method === 'PUT' || call.method === 'POST') return putNeeds(call, bucket, key);
  if (call.method !== 'DELETE') return unknown('S3', call.method);
  return [need(call.url.searchParams.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject', bucket, key)];
};

const MAX_FIELDS_BYTES = 20_000;

const keyOfForm = ({ body }: ServiceCall): string => {
  const fields = body.subarray(0, MAX_FIELDS_BYTES).toString('utf8');
  return /name="key"\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]+)/i.exec(fields)?.[1] ?? '';
};
