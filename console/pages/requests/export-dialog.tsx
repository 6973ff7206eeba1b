import { useEffect, useRef, useState } from 'react';
import type { Query } from '../../client/routes.ts';
import { saveText } from '../../client/save-text.ts';
import { Segments } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Form } from '../../design/forms/form.tsx';
import { type ExportFormat, exportRequests } from './export-requests.ts';

type Search = NonNullable<Query<'GET /v1/observability/requests'>>;

const TYPES: Readonly<Record<ExportFormat, string>> = { csv: 'text/csv', jsonl: 'application/jsonl' };

/** Saves all requests of a search as a file. */
export const ExportDialog = ({ search, onClose }: { search: Search; onClose: () => void }) => {
  const [format, setFormat] = useState<ExportFormat>('csv');
  const [count, setCount] = useState(0);
  const [isCut, setCut] = useState(false);
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  return (
    <Dialog title="Export requests" onClose={onClose}>
      <p>All requests that match the filters, newest first, without their content.</p>
      <Form
        submitLabel="Export requests"
        onCancel={onClose}
        onSubmit={async () => {
          const controller = new AbortController();
          stop.current = controller;
          const exported = await exportRequests(search, format, setCount, controller.signal);
          saveText(`requests.${format}`, TYPES[format], exported.parts);
          if (exported.isCut) setCut(true);
          else onClose();
        }}
      >
        <Segments
          label="Format"
          value={format}
          onChange={setFormat}
          choices={[
            ['csv', 'CSV'],
            ['jsonl', 'JSON Lines'],
          ]}
        />
        {count > 0 && !isCut && <Notice>{count} of at most 10 parts read.</Notice>}
        {isCut && <Notice tone="warn">The file has the newest 100,000 requests. Choose a shorter time to get the others.</Notice>}
      </Form>
    </Dialog>
  );
};
