import { can, useSignedIn } from '../../client/me.ts';
import { Button } from '../../design/controls/button.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../design/controls/fields.tsx';
import { Columns, Disclosure, Section, Stack } from '../../design/layout/layout.tsx';
import { type Faults, type NewDraft, nameFor, TASKS } from './deployment-draft.ts';

export interface StepProps {
  draft: NewDraft;
  onChange: (changes: Partial<NewDraft>) => void;
  faults: Faults;
}

interface ModelStepProps extends StepProps {
  runtimes: readonly { id: string; description: string }[];
  /** The folder of the organization, as the API names it. */
  folder: string | undefined;
  hubModels: boolean;
}

const Advanced = ({ draft, onChange, faults }: StepProps) => {
  const me = useSignedIn();
  return (
    <Disclosure title="Context length, environment variables and code">
      <Stack>
        <TextField
          label="Context length"
          value={draft.contextLength}
          onChange={(contextLength) => onChange({ contextLength })}
          fault={faults.contextLength}
          placeholder="8192"
          inputMode="numeric"
          hint="Prompt and completion tokens together. A longer context needs more accelerator memory."
        />
        <TextArea
          label="Environment variables"
          value={draft.environment}
          onChange={(environment) => onChange({ environment })}
          fault={faults.environment}
          placeholder="SM_VLLM_GPU_MEMORY_UTILIZATION=0.9"
          hint="One NAME=value per line."
          isCode
        />
        {can(me, 'catalogue:write') && (
          <CheckField
            label="Run code from the model's folder"
            hint="The code runs in the container, next to the model."
            checked={draft.allowsCode}
            onChange={(allowsCode) => onChange({ allowsCode })}
          />
        )}
      </Stack>
    </Disclosure>
  );
};

/** Step 1: the model, the name that requests use, and the runtime. */
export const ModelStep = ({ runtimes, folder, hubModels, ...step }: ModelStepProps) => {
  const { draft, onChange, faults } = step;
  const description = runtimes.find(({ id }) => id === draft.runtime)?.description;
  return (
    <Section title="1. Model" isCard>
      <Stack>
        <TextField
          label="Model files"
          value={draft.model}
          onChange={(model) => onChange({ model })}
          fault={faults.model}
          placeholder={`${folder ?? 's3://…/'}qwen3-8b/`}
          hint={
            hubModels
              ? "The S3 folder with the model's files, or a model id on the Hugging Face Hub, such as Qwen/Qwen3-8B."
              : "The S3 folder that contains the model's config.json."
          }
          isCode
          autoFocus
          spellCheck={false}
        />
        {folder !== undefined && !draft.model.startsWith(folder) && (
          <div>
            <Button onClick={() => onChange({ model: folder })}>Use your organization's folder</Button>
          </div>
        )}
        <Columns>
          <TextField
            label="Name"
            value={draft.name}
            onChange={(name) => onChange({ name })}
            fault={faults.name}
            placeholder={nameFor(draft.model) || 'qwen3-8b'}
            hint="The name that requests send as model."
            isCode
            spellCheck={false}
          />
          <SelectField
            label="Runtime"
            value={draft.runtime}
            onChange={(runtime) => onChange({ runtime })}
            fault={faults.runtime}
            choices={runtimes.map(({ id }) => [id, id] as const)}
            hint={description ?? 'The software that serves the model.'}
          />
        </Columns>
        <Columns>
          <SelectField
            label="Task"
            value={draft.task}
            onChange={(task) => onChange({ task })}
            fault={faults.task}
            choices={TASKS}
            hint="What requests use the model for."
          />
          {draft.task === 'embed' && (
            <TextField
              label="Dimensions"
              value={draft.dimensions}
              onChange={(dimensions) => onChange({ dimensions })}
              fault={draft.dimensions === '' ? undefined : faults.dimensions}
              placeholder="1024"
              inputMode="numeric"
              hint="hidden_size in the model's config.json."
            />
          )}
        </Columns>
        <Advanced {...step} />
      </Stack>
    </Section>
  );
};
