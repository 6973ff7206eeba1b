import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { FilterField } from '../controls/filter-field.tsx';

const MAX_SUGGESTED = 100;

interface OrganizationFieldProps {
  value: string;
  onChange: (value: string) => void;
}

/** For those who work for the platform: the organization whose things a screen shows. Others see nothing. */
export const OrganizationField = ({ value, onChange }: OrganizationFieldProps) => {
  const me = useSignedIn();
  const isShown = isOfPlatform(me);
  const { data } = useRead(
    'GET /v1/organizations',
    { query: { limit: MAX_SUGGESTED } },
    { enabled: isShown && can(me, 'organizations:list') },
  );
  if (!isShown) return null;
  return (
    <FilterField
      label="Organization"
      placeholder="org_…"
      value={value}
      onChange={onChange}
      suggestions={data?.data.map(({ id, name }) => [id, name] as const) ?? []}
      isCode
    />
  );
};
