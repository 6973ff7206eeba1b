import { ApiFailure, unreachable } from './api-failure.ts';

interface Upload {
  url: string;
  fields: Readonly<Record<string, string>>;
  file: Blob;
  signal: AbortSignal;
  /** @param share from 0 to 1 */
  onProgress: (share: number) => void;
}

const refused = (status: number): ApiFailure =>
  new ApiFailure({
    status,
    code: 'upload_failed',
    message: `The upload failed with status ${status}. Remove the file, then add it again.`,
  });

/**
 * Sends a file with a presigned form. `fetch` reports no progress, so this is an XMLHttpRequest.
 * @throws ApiFailure, and the signal's reason if it was aborted
 */
export const uploadForm = ({ url, fields, file, signal, onProgress }: Upload): Promise<void> =>
  new Promise((resolve, reject) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', file);
    const request = new XMLHttpRequest();
    request.open('POST', url);
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener('load', () => (request.status < 300 ? resolve() : reject(refused(request.status))));
    request.addEventListener('error', () => reject(unreachable()));
    request.addEventListener('abort', () => reject(signal.reason));
    signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
