import { useEffect, useRef, useState } from 'react';
import { request } from '../../client/request.ts';
import { uploadForm } from '../../client/upload-form.ts';
import { fileTypeOf, MAX_FILES } from './file-types.ts';

/** A file on its way to a message. */
export interface Upload {
  key: string;
  name: string;
  bytes: number;
  /** From 0 to 1. */
  share: number;
  /** The attachment, when it is uploaded. */
  id?: string;
  failure?: Error;
}

const send = async (ticket: string, file: File, signal: AbortSignal, onProgress: (share: number) => void): Promise<string> => {
  const { name, size: bytes } = file;
  const { id, url, fields } = await request('POST /v1/tickets/{id}/attachments', {
    parameters: { id: ticket },
    body: { name, content_type: fileTypeOf(file), bytes },
    signal,
  });
  await uploadForm({ url, fields, file, signal, onProgress });
  return id;
};

/** Uploads files for a message of a ticket. Those that are left when the screen closes are not kept. */
export const useUploads = (ticket: string) => {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const controllers = useRef(new Map<string, AbortController>());
  useEffect(() => {
    const { current } = controllers;
    return () => {
      for (const controller of current.values()) controller.abort();
    };
  }, []);
  const change = (key: string, changes: Partial<Upload>) =>
    setUploads((was) => was.map((upload) => (upload.key === key ? { ...upload, ...changes } : upload)));
  const start = (file: File) => {
    const key = crypto.randomUUID();
    const controller = new AbortController();
    controllers.current.set(key, controller);
    setUploads((was) => [...was, { key, name: file.name, bytes: file.size, share: 0 }]);
    send(ticket, file, controller.signal, (share) => change(key, { share })).then(
      (id) => change(key, { id, share: 1 }),
      (failure: Error) => change(key, { failure }),
    );
  };
  return {
    uploads,
    /** Uploads files, as many as the message has room for. */
    add: (files: readonly File[]) => files.slice(0, MAX_FILES - uploads.length).forEach(start),
    remove: (key: string) => {
      controllers.current.get(key)?.abort();
      setUploads((was) => was.filter((upload) => upload.key !== key));
    },
    clear: () => setUploads([]),
  };
};
