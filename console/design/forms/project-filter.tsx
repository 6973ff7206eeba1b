import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { SelectField } from '../controls/fields.tsx';

const MAX_PROJECTS = 100;

interface ProjectFilterProps {
  /** Whose projects, for users of the platform. */
  organization: string;
  /** The id of a project; empty: all. */
  value: string;
  onChange: (value: string) => void;
}

/** A filter by project, one of the newest or the one that an address names. Nothing is shown without projects. */
export const ProjectFilter = ({ organization, value, onChange }: ProjectFilterProps) => {
  const me = useSignedIn();
  const isKnown = can(me, 'projects:read') && (!isOfPlatform(me) || organization !== '');
  const projects = useRead('GET /v1/projects', { query: { limit: MAX_PROJECTS, organization } }, { enabled: isKnown });
  const listed = projects.data?.data ?? [];
  if (listed.length === 0 && value === '') return null;
  const isListed = value === '' || listed.some(({ id }) => id === value);
  return (
    <SelectField
      label="Project"
      value={value}
      onChange={onChange}
      choices={[['', 'All projects'], ...listed.map(({ id, name }) => [id, name] as const), ...(isListed ? [] : [[value, value] as const])]}
    />
  );
};
