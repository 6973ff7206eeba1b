import { useContext } from 'react';
import { Link } from 'wouter';
import { addressOfId } from '../../client/ids.ts';
import { OpenScreens } from '../../client/open-screens.ts';
import { CopyText } from './copy.tsx';

/** An id: a link to the screen of its thing if there is one that the user can see, otherwise a text to copy. */
export const IdLink = ({ id }: { id: string }) => {
  const isOpen = useContext(OpenScreens);
  const address = addressOfId(id);
  return address && isOpen(address) ? (
    <Link to={address}>
      <code>{id}</code>
    </Link>
  ) : (
    <CopyText text={id} />
  );
};
