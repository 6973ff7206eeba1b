import { SelectField, TextArea, TextField } from '../../design/controls/fields.tsx';
import { Section, ShortFields, Stack } from '../../design/layout/layout.tsx';
import { WINDOWS_HINT } from '../deployments/windows.ts';
import { idleChoices } from './deployment-draft.ts';
import type { StepProps } from './model-step.tsx';

/** Step 3: how many copies run, and when it sleeps. */
export const CopiesStep = ({ draft, onChange, faults }: StepProps) => (
  <Section title="3. Copies and sleep" isCard>
    <Stack>
      <ShortFields>
        <TextField
          label="Minimum copies"
          value={draft.minCopies}
          onChange={(minCopies) => onChange({ minCopies })}
          fault={faults.minCopies}
          inputMode="numeric"
          hint="While the deployment is awake."
        />
        <TextField
          label="Maximum copies"
          value={draft.maxCopies}
          onChange={(maxCopies) => onChange({ maxCopies })}
          fault={faults.maxCopies}
          placeholder={draft.minCopies}
          inputMode="numeric"
          hint="Copies are added under load."
        />
        <TextField
          label="Concurrent requests per copy"
          value={draft.concurrency}
          onChange={(concurrency) => onChange({ concurrency })}
          fault={faults.concurrency}
          inputMode="numeric"
          hint="Above this, copies are added."
        />
      </ShortFields>
      <SelectField
        label="Sleep"
        value={draft.idle}
        onChange={(idle) => onChange({ idle })}
        fault={faults.idle}
        choices={idleChoices(draft.idle)}
        hint={
          draft.idle === ''
            ? 'The deployment costs money around the clock, and requests never wait for it to start.'
            : 'While asleep, the deployment costs nothing. The next request wakes it, which takes minutes.'
        }
      />
      {draft.idle !== '' && (
        <TextArea
          label="Stay awake in these windows"
          value={draft.windows}
          onChange={(windows) => onChange({ windows })}
          fault={faults.windows}
          hint={WINDOWS_HINT}
          rows={2}
        />
      )}
    </Stack>
  </Section>
);
