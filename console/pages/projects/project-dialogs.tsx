import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { ownCurrency } from '../../design/format/currency.ts';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Form } from '../../design/forms/form.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { Note, ShortFields, Stack } from '../../design/layout/layout.tsx';
import {
  changesOfProject,
  draftOfProject,
  EMPTY_PROJECT,
  faultsOfProject,
  isProjectComplete,
  newProjectOf,
  PROJECT_LABELS,
  type Project,
  type ProjectDraft,
} from './project-draft.ts';

interface FieldsProps {
  draft: ProjectDraft;
  onChange: (changes: Partial<ProjectDraft>) => void;
}

const ProjectFields = ({ draft, onChange }: FieldsProps) => {
  const faults = faultsOfProject(draft);
  return (
    <Stack>
      <TextField
        label={PROJECT_LABELS.name}
        value={draft.name}
        onChange={(name) => onChange({ name })}
        hint="A team, product or customer whose usage you want to see separately."
        maxLength={100}
        autoFocus
      />
      <ShortFields>
        {(['day', 'month', 'total'] as const).map((name) => (
          <TextField
            key={name}
            label={`${PROJECT_LABELS[name]} (${ownCurrency().symbol})`}
            value={draft[name]}
            onChange={(text) => onChange({ [name]: text })}
            fault={faults[name]}
            inputMode="decimal"
            placeholder="no budget"
          />
        ))}
      </ShortFields>
      <Note>
        The most that the API keys of the project can spend together. Requests that could exceed a budget are rejected. Days and months are
        in UTC.
      </Note>
    </Stack>
  );
};

interface DialogProps {
  /** For users of the platform. */
  organization: string | undefined;
  onClose: () => void;
}

/** Creates a project. */
export const CreateProject = ({ organization, onClose }: DialogProps) => {
  const [draft, setDraft] = useState(EMPTY_PROJECT);
  return (
    <Dialog title="Create project" onClose={onClose}>
      <Form
        submitLabel="Create project"
        canSubmit={isProjectComplete(draft)}
        onCancel={onClose}
        onSubmit={async () => {
          await request('POST /v1/projects', { body: newProjectOf(draft, organization) });
          await readAgain('/v1/projects');
          onClose();
        }}
      >
        <ProjectFields draft={draft} onChange={(changes) => setDraft((was) => ({ ...was, ...changes }))} />
      </Form>
    </Dialog>
  );
};

/** Changes a project's name and budgets. */
export const EditProject = ({ project, organization, onClose }: DialogProps & { project: Project }) => {
  const { id, name } = project;
  const of = { parameters: { id }, query: { organization } };
  return (
    <Dialog title={`Edit ${name}`} onClose={onClose}>
      <VersionedForm
        thing={project}
        draftOf={draftOfProject}
        labels={PROJECT_LABELS}
        read={() => request('GET /v1/projects/{id}', of)}
        submitLabel="Save project"
        onCancel={onClose}
        canSubmit={(draft, base) => isProjectComplete(draft) && Object.keys(changesOfProject(draft, base)).length > 0}
        save={async (draft, base) => {
          await request('PATCH /v1/projects/{id}', { ...of, body: changesOfProject(draft, base), version: base.version });
          await readAgain('/v1/projects');
          onClose();
        }}
      >
        {(draft, change) => <ProjectFields draft={draft} onChange={change} />}
      </VersionedForm>
    </Dialog>
  );
};

/** Archives a project for good. */
export const ArchiveProject = ({ project: { id, name, version }, organization, onClose }: DialogProps & { project: Project }) => (
  <Confirm
    title={`Archive ${name}`}
    action="Archive project"
    onClose={onClose}
    onConfirm={async () => {
      await request('POST /v1/projects/{id}/archive', { parameters: { id }, query: { organization }, version });
      await readAgain('/v1/projects');
    }}
  >
    <p>API keys in the project keep working and its usage is kept, but no other key can join it. This can't be undone.</p>
  </Confirm>
);
