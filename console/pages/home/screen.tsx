import { useSignedIn } from '../../client/me.ts';
import { Page } from '../../design/layout/layout.tsx';

export const Screen = () => {
  const me = useSignedIn();
  return (
    <Page title="Home" description={`Signed in as ${me.email}.`}>
      {null}
    </Page>
  );
};
