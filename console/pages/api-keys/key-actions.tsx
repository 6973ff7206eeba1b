import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { Button } from '../../design/controls/button.tsx';
import { Menu } from '../../design/controls/menu.tsx';
import type { ApiKey } from './key-draft.ts';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKey } from './rotate-key.tsx';

type Action = 'rotate' | 'revoke';

/** Rotates or revokes a key: as buttons on its own page, in a list as a menu. */
export const KeyActions = ({ apiKey, isMenu = false }: { apiKey: ApiKey; isMenu?: boolean }) => {
  const me = useSignedIn();
  const [action, setAction] = useState<Action>();
  // A dialog acts on the version that it was opened with.
  const [opened, setOpened] = useState(apiKey);
  const close = () => setAction(undefined);
  const open = (chosen: Action) => {
    setOpened(apiKey);
    setAction(chosen);
  };
  if (apiKey.status === 'revoked' || !can(me, 'keys:write')) return null;
  return (
    <>
      {isMenu ? (
        <Menu
          label={`Actions of ${apiKey.name}`}
          items={[
            { label: 'Rotate secret', onSelect: () => open('rotate') },
            { label: 'Revoke API key', onSelect: () => open('revoke'), isDangerous: true },
          ]}
        />
      ) : (
        <>
          <Button onClick={() => open('rotate')}>Rotate secret</Button>
          <Button look="danger" onClick={() => open('revoke')}>
            Revoke API key
          </Button>
        </>
      )}
      {action === 'rotate' && <RotateKey apiKey={opened} onClose={close} />}
      {action === 'revoke' && <RevokeKey apiKey={opened} onClose={close} />}
    </>
  );
};
