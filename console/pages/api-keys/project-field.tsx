import { useRead } from '../../client/queries.ts';
import { SelectField } from '../../design/controls/fields.tsx';
import { KEY_LABELS } from './key-draft.ts';

const MAX_PROJECTS = 100;

interface ProjectFieldProps {
  /** For users of the platform. */
  organization: string | undefined;
  /** The id of a project; empty: none. */
  value: string;
  onChange: (project: string) => void;
}

/** The project of a key: one of the newest active ones, or the one that it has. */
export const ProjectField = ({ organization, value, onChange }: ProjectFieldProps) => {
  const projects = useRead('GET /v1/projects', { query: { organization, status: 'active', limit: MAX_PROJECTS } });
  const listed = projects.data?.data ?? [];
  const isListed = value === '' || listed.some(({ id }) => id === value);
  return (
    <SelectField
      label={KEY_LABELS.project}
      value={value}
      onChange={onChange}
      hint="The key's usage is shown in the project and counts toward the project's budget."
      choices={[['', 'No project'], ...listed.map(({ id, name }) => [id, name] as const), ...(isListed ? [] : [[value, value] as const])]}
    />
  );
};
