import { type ReactNode, useEffect, useRef, useState } from 'react';
import { MAX_PARTS, readParts } from '../../client/read-parts.ts';
import { saveText } from '../../client/save-text.ts';
import { Segments } from '../controls/fields.tsx';
import { Dialog } from '../feedback/dialog.tsx';
import { Notice } from '../feedback/failure.tsx';
import { Form } from './form.tsx';

export type ExportFormat = 'csv' | 'jsonl';

const LABELS: Readonly<Record<ExportFormat, string>> = { csv: 'CSV', jsonl: 'JSON Lines' };
const TYPES: Readonly<Record<ExportFormat, string>> = { csv: 'text/csv', jsonl: 'application/jsonl' };

/** A part of an export. `after` undefined: the first one. */
export interface ExportPart {
  format: ExportFormat;
  after: string | undefined;
  signal: AbortSignal;
}

interface ExportDialogProps {
  title: string;
  /** Without the extension. */
  fileName: string;
  formats: readonly [ExportFormat, ...ExportFormat[]];
  read: (part: ExportPart) => Promise<Response>;
  onClose: () => void;
  /** The content of the file, in words. */
  children: ReactNode;
}

/** Saves a list as a file. Closing the dialog ends the reading. */
export const ExportDialog = ({ title, fileName, formats, read, onClose, children }: ExportDialogProps) => {
  const [format, setFormat] = useState<ExportFormat>(formats[0]);
  const [count, setCount] = useState(0);
  const [isCut, setCut] = useState(false);
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const save = async () => {
    const controller = new AbortController();
    stop.current = controller;
    const { signal } = controller;
    const parts = await readParts((after) => read({ format, after, signal }), { hasHead: format === 'csv', onPart: setCount });
    saveText(`${fileName}.${format}`, TYPES[format], parts.texts);
    if (parts.isCut) setCut(true);
    else onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <Form submitLabel="Save file" onCancel={onClose} canStop onSubmit={save}>
        {formats.length > 1 && (
          <Segments label="Format" value={format} onChange={setFormat} choices={formats.map((one) => [one, LABELS[one]] as const)} />
        )}
        {count > 0 && !isCut && (
          <Notice>
            {count} of up to {MAX_PARTS} parts read.
          </Notice>
        )}
        {isCut && <Notice tone="warn">The file contains only the newest entries. Choose a shorter time range to export the rest.</Notice>}
      </Form>
    </Dialog>
  );
};
