import { Link } from 'wouter';
import { addressOfId } from '../../client/ids.ts';
import { CopyText } from './copy.tsx';

/** An id: a link to the screen of its thing if there is one, otherwise a text to copy. */
export const IdLink = ({ id }: { id: string }) => {
  const address = addressOfId(id);
  return address ? (
    <Link to={address}>
      <code>{id}</code>
    </Link>
  ) : (
    <CopyText text={id} />
  );
};
