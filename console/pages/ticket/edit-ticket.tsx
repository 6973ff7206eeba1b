import { can, useSignedIn } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { SelectField, TextField } from '../../design/controls/fields.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { Stack } from '../../design/layout/layout.tsx';
import { SEVERITIES, type Ticket } from '../tickets/ticket-words.ts';
import { useSupporters } from '../tickets/use-supporters.ts';
import { changesOfTicket, draftOfTicket, statusChoices, TICKET_LABELS } from './ticket-draft.ts';

/** Changes a ticket's subject and severity; for support, also its state and who works on it. */
export const EditTicket = ({ ticket, onClose }: { ticket: Ticket; onClose: () => void }) => {
  const me = useSignedIn();
  const isSupport = can(me, 'tickets:answer');
  const supporters = useSupporters(me);
  const { id } = ticket;
  return (
    <Dialog title="Edit ticket" onClose={onClose}>
      <VersionedForm
        thing={ticket}
        draftOf={draftOfTicket}
        labels={TICKET_LABELS}
        read={() => request('GET /v1/tickets/{id}', { parameters: { id } })}
        submitLabel="Save ticket"
        onCancel={onClose}
        canSubmit={(draft, base) => draft.subject.trim() !== '' && Object.keys(changesOfTicket(draft, base)).length > 0}
        save={async (draft, base) => {
          await request('PATCH /v1/tickets/{id}', { parameters: { id }, body: changesOfTicket(draft, base), version: base.version });
          await readAgain('/v1/tickets', '/v1/summary');
          onClose();
        }}
      >
        {(draft, change) => (
          <Stack>
            <TextField label={TICKET_LABELS.subject} value={draft.subject} onChange={(subject) => change({ subject })} maxLength={200} />
            <SelectField
              label={TICKET_LABELS.severity}
              value={draft.severity}
              onChange={(severity) => change({ severity })}
              choices={SEVERITIES}
            />
            {isSupport && (
              <>
                <SelectField
                  label={TICKET_LABELS.status}
                  value={draft.status}
                  onChange={(status) => change({ status })}
                  choices={statusChoices(draft.status)}
                />
                <FilterField
                  label={TICKET_LABELS.assignee}
                  placeholder="Unassigned"
                  value={draft.assignee}
                  onChange={(assignee) => change({ assignee })}
                  suggestions={[[me.id, 'You'], ...supporters]}
                  isCode
                />
              </>
            )}
          </Stack>
        )}
      </VersionedForm>
    </Dialog>
  );
};
