import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Segments, TextArea } from '../../design/controls/fields.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Panel } from '../../design/layout/layout.tsx';
import { faultOfText, isText } from '../tickets/ticket-text.ts';
import type { Ticket } from '../tickets/ticket-words.ts';
import { useKeptDraft } from './kept-draft.ts';
import { Uploads } from './uploads.tsx';
import { useUploads } from './use-uploads.ts';

interface Draft {
  body: string;
  visibility: 'public' | 'internal';
}

const EMPTY: Draft = { body: '', visibility: 'public' };

const FOR_SUPPORT = {
  public: { label: 'Reply to the customer', readers: 'Visible to the customer', submit: 'Send to customer' },
  internal: { label: 'Internal note', readers: 'Visible to support only', submit: 'Save internal note' },
} as const;
const FOR_CUSTOMERS = { label: 'Reply', readers: undefined, submit: 'Send reply' } as const;

const closedText = 'This ticket is closed. Reopen it to reply. Your text stays here.';

/**
 * Writes a message or, for support, a note. What was typed stays until it is stored, also if other screens are seen
 * meanwhile.
 */
export const ReplyForm = ({ ticket: { id, status }, isSupport }: { ticket: Ticket; isSupport: boolean }) => {
  const [draft, setDraft] = useKeptDraft(id, EMPTY);
  const { body, visibility } = draft;
  const { uploads, add, remove, clear } = useUploads(id);
  const words = isSupport ? FOR_SUPPORT[visibility] : FOR_CUSTOMERS;
  const isInternal = visibility === 'internal';
  const isUploaded = uploads.every((upload) => upload.id !== undefined);
  // The customer sees no note, so support can write one at any time.
  const isClosed = status === 'closed' && !isInternal;
  return (
    <Panel label={words.readers} tone={isInternal ? 'warn' : undefined}>
      <Form
        submitLabel={words.submit}
        canSubmit={isText(body) && isUploaded && !isClosed}
        onSubmit={async () => {
          const attachments = uploads.flatMap((upload) => upload.id ?? []);
          await request('POST /v1/tickets/{id}/messages', {
            parameters: { id },
            body: { body, attachments, ...(isSupport && { visibility }) },
          });
          setDraft({ ...draft, body: '' });
          clear();
          await readAgain('/v1/tickets', '/v1/summary');
        }}
      >
        {isSupport && (
          <Segments
            label="Visibility"
            value={visibility}
            onChange={(chosen) => setDraft({ ...draft, visibility: chosen })}
            choices={[
              ['public', 'Reply to the customer'],
              ['internal', 'Internal note'],
            ]}
          />
        )}
        {isClosed && <Notice>{closedText}</Notice>}
        <TextArea label={words.label} value={body} onChange={(typed) => setDraft({ ...draft, body: typed })} fault={faultOfText(body)} />
        <Uploads uploads={uploads} add={add} remove={remove} />
      </Form>
    </Panel>
  );
};
