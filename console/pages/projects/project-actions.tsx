import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { Button } from '../../design/controls/button.tsx';
import { Menu } from '../../design/controls/menu.tsx';
import { ArchiveProject, EditProject } from './project-dialogs.tsx';
import type { Project } from './project-draft.ts';

interface ProjectActionsProps {
  project: Project;
  /** For users of the platform. */
  organization: string | undefined;
  isMenu?: boolean;
}

/** Changes or archives a project: as buttons on its own page, in a list as a menu. */
export const ProjectActions = ({ project, organization, isMenu = false }: ProjectActionsProps) => {
  const me = useSignedIn();
  const [action, setAction] = useState<'edit' | 'archive'>();
  // A dialog acts on the version that it was opened with.
  const [opened, setOpened] = useState(project);
  if (!can(me, 'projects:write')) return null;
  const open = (chosen: 'edit' | 'archive') => {
    setOpened(project);
    setAction(chosen);
  };
  const props = { project: opened, organization, onClose: () => setAction(undefined) };
  const isActive = project.status === 'active';
  return (
    <>
      {isMenu ? (
        <Menu
          label={`Actions of ${project.name}`}
          items={[
            { label: 'Edit project', onSelect: () => open('edit') },
            ...(isActive ? [{ label: 'Archive project', onSelect: () => open('archive'), isDangerous: true }] : []),
          ]}
        />
      ) : (
        <>
          <Button onClick={() => open('edit')}>Edit project</Button>
          {isActive && (
            <Button look="danger" onClick={() => open('archive')}>
              Archive project
            </Button>
          )}
        </>
      )}
      {action === 'edit' && <EditProject {...props} />}
      {action === 'archive' && <ArchiveProject {...props} />}
    </>
  );
};
