import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useUrlState, useUrlStates } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import type { Choice } from '../../design/controls/choice.ts';
import { Segments } from '../../design/controls/fields.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { CreateExport } from './create-export.tsx';
import { ExportFiles } from './files.tsx';
import { Records } from './records.tsx';
import { EXPORT_NAMES } from './records-query.ts';

type View = '' | 'records';

const VIEWS: readonly Choice<View>[] = [
  ['', 'Files'],
  ['records', 'Usage records'],
];

/** The usage records from which invoices are made, and files of them. */
export const Screen = () => {
  const me = useSignedIn();
  const [values, change] = useUrlStates(EXPORT_NAMES);
  const [dialog, setDialog] = useUrlState<string>('dialog', '');
  const view: View = values.view === 'records' ? 'records' : '';
  const organization = isOfPlatform(me) ? values.organization : undefined;
  const needsChoice = organization === '';
  return (
    <Page
      title="Exports"
      description="The usage records behind your invoices. View them here, or export them to a file."
      actions={
        can(me, 'billing:write') &&
        !needsChoice && (
          <Button look="primary" onClick={() => setDialog('create')}>
            Create export
          </Button>
        )
      }
    >
      <Filters>
        <OrganizationField value={values.organization} onChange={(next) => change({ organization: next })} />
        <Segments label="View" value={view} choices={VIEWS} onChange={(next) => change({ view: next })} />
      </Filters>
      {needsChoice ? (
        <Empty title="Choose an organization">
          <p>Usage records belong to organizations.</p>
        </Empty>
      ) : view === 'records' ? (
        <Records values={values} change={change} />
      ) : (
        <ExportFiles organization={organization} />
      )}
      {dialog === 'create' && !needsChoice && can(me, 'billing:write') && (
        <CreateExport organization={organization} seen={values} onClose={() => setDialog('')} />
      )}
    </Page>
  );
};
