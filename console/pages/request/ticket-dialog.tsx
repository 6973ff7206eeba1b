import { useState } from 'react';
import { useLocation } from 'wouter';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { SelectField, TextArea, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Form } from '../../design/forms/form.tsx';
import { faultOfText, isText } from '../tickets/ticket-text.ts';
import { SEVERITIES, type Ticket } from '../tickets/ticket-words.ts';

type Detail = ReplyBody<'GET /v1/observability/requests/{id}'>;
const subjectOf = ({ error, model }: Detail): string =>
  error ? `Request failed with ${error.code ?? error.status ?? 'an error'}` : `Question about a request to ${model ?? 'a model'}`;

/** Opens a ticket about a request, then its page. Support sees what is known of the request now. */
export const TicketDialog = ({ detail, onClose }: { detail: Detail; onClose: () => void }) => {
  const [subject, setSubject] = useState(subjectOf(detail));
  const [body, setBody] = useState('');
  const [severity, setSeverity] = useState<Ticket['severity']>('normal');
  const [, navigate] = useLocation();
  return (
    <Dialog title="Open a ticket about this request" onClose={onClose}>
      <p>Support gets the timeline, usage and cost of {detail.id}, but not its content.</p>
      <Form
        submitLabel="Open ticket"
        canSubmit={subject.trim() !== '' && isText(body)}
        onCancel={onClose}
        onSubmit={async () => {
          const ticket = await request('POST /v1/tickets', {
            body: { subject, body, severity, category: 'api', request_ids: [detail.id] },
          });
          void readAgain('/v1/tickets', '/v1/summary');
          navigate(`/tickets/${ticket.id}`);
        }}
      >
        <TextField label="Subject" value={subject} onChange={setSubject} maxLength={200} />
        <TextArea label="What happened, and what did you expect?" value={body} onChange={setBody} fault={faultOfText(body)} autoFocus />
        <SelectField label="Severity" value={severity} choices={SEVERITIES} onChange={setSeverity} />
      </Form>
    </Dialog>
  );
};
