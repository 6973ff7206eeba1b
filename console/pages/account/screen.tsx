import { useState } from 'react';
import { useIsFromProvider, useSignedIn } from '../../client/me.ts';
import { Button } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Columns, Facts, Page, Row, Section } from '../../design/layout/layout.tsx';
import { NameDialog } from './name-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

export const Screen = () => {
  const me = useSignedIn();
  const { isFromProvider } = useIsFromProvider();
  const [dialog, setDialog] = useState<'name' | 'password'>();
  const close = () => setDialog(undefined);
  return (
    <Page title="Account" description={me.email}>
      <Columns>
        <Section title="Profile" isCard>
          <Facts
            facts={[
              ['Name', me.name ?? '–'],
              ['Role', me.role.replaceAll('_', ' ')],
              [
                'Organization',
                me.organization_name === null ? undefined : (
                  <ScreenLink key="organization" to={`/organizations/${me.organization}`}>
                    {me.organization_name}
                  </ScreenLink>
                ),
              ],
              ['Id', <CopyText key="id" text={me.id} />],
            ]}
          />
          <Row>
            <Button onClick={() => setDialog('name')}>Change name</Button>
            {!isFromProvider && <Button onClick={() => setDialog('password')}>Change password</Button>}
          </Row>
        </Section>
        <SecondFactor me={me} />
      </Columns>
      <Sessions />
      {dialog === 'name' && <NameDialog me={me} onClose={close} />}
      {dialog === 'password' && <PasswordDialog onClose={close} />}
    </Page>
  );
};
