import { Button } from '../../design/controls/button.tsx';
import { SelectField, TextField } from '../../design/controls/fields.tsx';
import { Row, Stack } from '../../design/layout/layout.tsx';
import { type GivenRole, mappingIn, mappingText, PROVIDER_LABELS } from './provider-draft.ts';

const MAX_ENTRIES = 100;

/** The roles that a connection can give, highest first. */
export const GIVEN_ROLES: readonly (readonly [GivenRole, string])[] = [
  ['owner', 'owner'],
  ['billing', 'billing'],
  ['member', 'member'],
  ['viewer', 'viewer'],
];

interface MappingFieldsProps {
  value: string;
  onChange: (value: string) => void;
}

/** Roles by groups. The first entry that matches decides. */
export const MappingFields = ({ value, onChange }: MappingFieldsProps) => {
  const entries = mappingIn(value);
  const replace = (at: number, ...by: typeof entries) => onChange(mappingText(entries.toSpliced(at, 1, ...by)));
  return (
    <Stack>
      <h3>{PROVIDER_LABELS.mapping}</h3>
      <p>The first group that a user belongs to applies, so list the highest role first.</p>
      {entries.map((entry, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have no other identity, and their order counts
        <Row key={at}>
          <TextField
            label={`Group ${at + 1}`}
            value={entry.value}
            onChange={(text) => replace(at, { ...entry, value: text })}
            isLabelHidden
            placeholder="group"
            autoComplete="off"
            maxLength={200}
            isCode
          />
          <SelectField
            label={`Role of group ${at + 1}`}
            isLabelHidden
            value={entry.role}
            choices={GIVEN_ROLES}
            onChange={(role) => replace(at, { ...entry, role })}
          />
          <Button look="plain" aria-label={`Remove group ${at + 1}`} onClick={() => replace(at)}>
            Remove
          </Button>
        </Row>
      ))}
      <Row>
        <Button
          disabled={entries.length >= MAX_ENTRIES}
          onClick={() => onChange(mappingText([...entries, { value: '', role: entries.length === 0 ? 'owner' : 'member' }]))}
        >
          Add group
        </Button>
      </Row>
    </Stack>
  );
};
