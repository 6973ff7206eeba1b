import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import type { Choice } from '../../design/controls/choice.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { SelectField, TextArea, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Row } from '../../design/layout/layout.tsx';

type Detail = ReplyBody<'GET /v1/observability/requests/{id}'>;
type Severity = NonNullable<RequestBody<'POST /v1/tickets'>['severity']>;

const SEVERITIES: readonly Choice<Severity>[] = [
  ['low', 'Low: a question'],
  ['normal', 'Normal: something is wrong'],
  ['high', 'High: much of our work is affected'],
  ['urgent', 'Urgent: nothing works'],
];

const subjectOf = ({ error, model }: Detail): string =>
  error ? `Request failed with ${error.code ?? error.status ?? 'an error'}` : `Question about a request to ${model ?? 'a model'}`;

/** Opens a ticket about a request. Support sees what is known of it now. */
export const TicketDialog = ({ detail, onClose }: { detail: Detail; onClose: () => void }) => {
  const [subject, setSubject] = useState(subjectOf(detail));
  const [body, setBody] = useState('');
  const [severity, setSeverity] = useState<Severity>('normal');
  const [opened, setOpened] = useState<string>();
  if (opened !== undefined)
    return (
      <Dialog title="The ticket is open" onClose={onClose}>
        <p>
          Support has it as <CopyText text={opened} />, and answers in the ticket.
        </p>
        <Row>
          <Button onClick={onClose}>Close</Button>
        </Row>
      </Dialog>
    );
  return (
    <Dialog title="Open a ticket about this request" onClose={onClose}>
      <p>Support gets the timeline, usage and cost of {detail.id}, but not its content.</p>
      <Form
        submitLabel="Open ticket"
        canSubmit={subject.trim() !== '' && body.trim() !== ''}
        onCancel={onClose}
        onSubmit={async () => {
          const ticket = await request('POST /v1/tickets', {
            body: { subject, body, severity, category: 'api', request_ids: [detail.id] },
          });
          await readAgain('/v1/tickets');
          setOpened(ticket.id);
        }}
      >
        <TextField label="Subject" value={subject} onChange={setSubject} maxLength={200} />
        <TextArea label="What happened, and what did you expect?" value={body} onChange={setBody} autoFocus />
        <SelectField label="Severity" value={severity} choices={SEVERITIES} onChange={setSeverity} />
      </Form>
    </Dialog>
  );
};
