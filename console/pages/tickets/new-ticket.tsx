import { useState } from 'react';
import { useLocation } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { CheckField, CheckGroup, SelectField, TextArea, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { formatAge } from '../../design/format/times.ts';
import { Form } from '../../design/forms/form.tsx';
import { Disclosure, ShortFields, Stack } from '../../design/layout/layout.tsx';
import { faultOfRequests, idsIn, type NewTicketDraft, newTicketOf, toggled } from './new-ticket-draft.ts';
import { faultOfText, isText } from './ticket-text.ts';
import { CATEGORIES, SEVERITIES } from './ticket-words.ts';

const FAILED_SHOWN = 5;
const DEPLOYMENTS_READ = 100;

interface FieldsProps {
  draft: NewTicketDraft;
  change: (changes: Partial<NewTicketDraft>) => void;
}

const FailedRequests = ({ draft, change }: FieldsProps) => {
  const { data } = useRead('GET /v1/observability/requests', { query: { status: '5xx', limit: FAILED_SHOWN } });
  if (!data || data.data.length === 0) return null;
  return (
    <CheckGroup label="Recent failed requests">
      {data.data.map(({ id, error_code, model, created_at }) => (
        <CheckField
          key={id}
          label={`${error_code ?? 'failed'}, ${model ?? 'no model'}, ${formatAge(created_at)}`}
          hint={id}
          checked={idsIn(draft.requests).includes(id)}
          onChange={() => change({ requests: toggled(draft.requests, id) })}
        />
      ))}
    </CheckGroup>
  );
};

const DeploymentField = ({ draft, change }: FieldsProps) => {
  const { data } = useRead('GET /v1/deployments', { query: { limit: DEPLOYMENTS_READ } });
  const known = data?.data.map(({ id, name }) => [id, name] as const) ?? [];
  const isUnknown = draft.deployment !== '' && !known.some(([id]) => id === draft.deployment);
  if (known.length === 0 && !isUnknown) return null;
  return (
    <SelectField
      label="Deployment"
      value={draft.deployment}
      onChange={(deployment) => change({ deployment })}
      choices={[['', 'None'], ...known, ...(isUnknown ? [[draft.deployment, draft.deployment] as const] : [])]}
    />
  );
};

const EvidenceFields = (props: FieldsProps) => {
  const me = useSignedIn();
  const { draft, change } = props;
  return (
    <Stack>
      {can(me, 'requests:read') && <FailedRequests {...props} />}
      {can(me, 'requests:read') && (
        <TextField
          label="Request ids"
          placeholder="req_…"
          hint="From the x-request-id header of a response. Separate several ids with spaces."
          fault={faultOfRequests(draft.requests)}
          value={draft.requests}
          onChange={(requests) => change({ requests })}
          isCode
          autoComplete="off"
        />
      )}
      {can(me, 'deployments:read') && <DeploymentField {...props} />}
      {can(me, 'billing:read') && (
        <TextField
          label="Invoice id"
          placeholder="inv_…"
          value={draft.invoice}
          onChange={(invoice) => change({ invoice })}
          isCode
          autoComplete="off"
        />
      )}
    </Stack>
  );
};

/** Opens a ticket, then its page. */
export const NewTicket = ({ about, onClose }: { about: NewTicketDraft; onClose: () => void }) => {
  const [draft, setDraft] = useState(about);
  const [, navigate] = useLocation();
  const change = (changes: Partial<NewTicketDraft>) => setDraft((was) => ({ ...was, ...changes }));
  const isAbout = about.requests !== '' || about.deployment !== '' || about.invoice !== '';
  return (
    <Dialog title="Open ticket" onClose={onClose}>
      <Form
        submitLabel="Open ticket"
        canSubmit={draft.subject.trim() !== '' && isText(draft.body) && faultOfRequests(draft.requests) === undefined}
        onCancel={onClose}
        onSubmit={async () => {
          const { id } = await request('POST /v1/tickets', { body: newTicketOf(draft) });
          void readAgain('/v1/tickets', '/v1/summary');
          navigate(`/tickets/${id}`);
        }}
      >
        <TextField label="Subject" value={draft.subject} onChange={(subject) => change({ subject })} maxLength={200} autoFocus />
        <ShortFields>
          <SelectField label="Category" value={draft.category} choices={CATEGORIES} onChange={(category) => change({ category })} />
          <SelectField label="Severity" value={draft.severity} choices={SEVERITIES} onChange={(severity) => change({ severity })} />
        </ShortFields>
        <TextArea
          label="What happened, and what did you expect?"
          hint="You can attach files after you open the ticket."
          fault={faultOfText(draft.body)}
          value={draft.body}
          onChange={(body) => change({ body })}
        />
        <Disclosure title="What is it about?" isOpen={isAbout}>
          <EvidenceFields draft={draft} change={change} />
        </Disclosure>
        <p>Support sees the current details of what you select, such as the timeline, usage and cost of requests, but not their content.</p>
      </Form>
    </Dialog>
  );
};
