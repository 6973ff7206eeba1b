import type { RequestBody } from '../../client/routes.ts';

type FileType = RequestBody<'POST /v1/tickets/{id}/attachments'>['content_type'];

/** The most files of one message. */
export const MAX_FILES = 5;

/** The endings of names by the type of their content, as the API takes them. */
export const FILE_TYPES: Readonly<Record<FileType, readonly string[]>> = {
  'text/plain': ['txt', 'log'],
  'text/csv': ['csv'],
  'application/json': ['json', 'har'],
  'application/x-ndjson': ['jsonl', 'ndjson'],
  'application/pdf': ['pdf'],
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg'],
  'application/zip': ['zip'],
  'application/gzip': ['gz', 'tgz'],
};

/** The type to announce for a file: that of its ending, which browsers don't always know. The API refuses others. */
export const fileTypeOf = ({ name, type }: Pick<File, 'name' | 'type'>): FileType => {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const [known] = Object.entries(FILE_TYPES).find(([, endings]) => endings.includes(ending)) ?? [];
  return (known ?? (type || 'application/octet-stream')) as FileType;
};

const UNITS = ['bytes', 'kB', 'MB'] as const;
const STEP = 1_000;

/** A size as people read it. */
export const formatBytes = (bytes: number): string => {
  // From 999,950 on, one decimal would round to 1000.0 kB.
  const step = bytes < STEP ? 0 : Math.round(bytes / 100) < STEP * 10 ? 1 : 2;
  return `${step === 0 ? bytes : (bytes / STEP ** step).toFixed(1)} ${UNITS[step]}`;
};
